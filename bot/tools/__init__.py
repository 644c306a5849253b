"""What the model may do besides talking: each tool, and the loop that runs them within bounds."""

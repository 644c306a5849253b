"""What a reply sees: the records of the prompt, its budget, persona and background."""

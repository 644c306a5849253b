"""An Ollama server as chat model and embedder."""

"""One turn: the prompt asked of the model, the tools it may call, the reply made clean."""

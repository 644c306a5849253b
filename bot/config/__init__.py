"""What an operator can set: one TOML file, the environment, and the data directory."""

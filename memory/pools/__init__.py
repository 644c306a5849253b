"""The second seed's memory: short facts, refined into lasting ones; table, passes and slot."""

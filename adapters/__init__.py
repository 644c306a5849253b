"""The edge: chat platforms and model servers, translated to our ports.

    discord, telegram, console     where people chat
    ollama, embedded               what answers
    gate, gated, split             what several of them need

They know ports, values, errors and language, and not each other.
"""

"""The edge: chat platforms and model servers, translated to the ports of the house.

    discord/ · telegram/ · console/     where people chat
    ollama/ · embedded/                 what answers
    split · gate · gated                what several of them need

They know ports, values and errors, and not each other.
"""

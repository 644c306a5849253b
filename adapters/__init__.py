"""The edge: chat platforms and model servers, translated to the ports of the house."""

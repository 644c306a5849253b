"""Everything that a person reads in a chat, in English and in Traditional Chinese."""

"""Sessions as files: the seeds' own files read in, a session written out in their form."""

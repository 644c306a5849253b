"""The command line `kith`: one file a family of verbs, put together in `root`."""

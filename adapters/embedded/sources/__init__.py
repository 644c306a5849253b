"""Where the bytes of a model file come from: a given path, the model hub, a package registry."""

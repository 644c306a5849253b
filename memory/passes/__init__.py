"""Background runs, one file each; they read, ask a model without holding anything, and save."""

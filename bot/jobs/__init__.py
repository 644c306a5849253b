"""What runs by itself: the scheduler, its jobs, and the work after each send."""

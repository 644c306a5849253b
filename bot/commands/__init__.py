"""What people can tell the bot to do, from one table for the console and every platform."""

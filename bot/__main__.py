"""`python -m bot` and the command `kith`."""

from bot.cli.root import app


def main() -> None:
    """Run the command line."""
    app(prog_name="kith")


if __name__ == "__main__":
    main()

"""One plain function per tool that agents see."""

"""What every room uses: compiling kernels, threads, checks of arguments, wording."""

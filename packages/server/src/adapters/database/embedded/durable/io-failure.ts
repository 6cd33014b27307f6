/** The exit code of a process whose database could not write: `EX_IOERR` of `sysexits.h`. */
export const IO_FAILURE = 74

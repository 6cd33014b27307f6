/** The repetitions of the promise proofs: few on every change, many before a release. */

const isLong = process.env['STET_TEST_LONG'] === '1'

/** @param long taken when `STET_TEST_LONG` is 1, as `pnpm test:long` sets it. */
export const count = (ci: number, long: number): number => (isLong ? long : ci)

/** A time limit in ms that grows with the count. `perCaseMs` allows for a busy machine. */
export const timeFor = (cases: number, perCaseMs: number): number => 60_000 + cases * perCaseMs

/** Every failure names it; `STET_TEST_SEED` repeats one. */
export const seed = Number(process.env['STET_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

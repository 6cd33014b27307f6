/** Repetition counts of the promise tests: small on every change, large before a release. */

const isLong = process.env['STET_TEST_LONG'] === '1'

/** @param long used if `STET_TEST_LONG` is 1, as in `pnpm test:long`. */
export const count = (ci: number, long: number): number => (isLong ? long : ci)

/** A time limit in ms that grows with the count. `perCaseMs` allows for a busy machine. */
export const timeFor = (cases: number, perCaseMs: number): number => 60_000 + cases * perCaseMs

/** Every failure prints the seed. Set `STET_TEST_SEED` to repeat a failure. */
export const seed = Number(process.env['STET_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

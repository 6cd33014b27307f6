/** Repetition counts of the promise tests: small on every change, large before a release. */

export const isLong = process.env['STET_TEST_LONG'] === '1'

/** @param long used if `STET_TEST_LONG` is 1, as in `pnpm test:long`. */
export const count = (ci: number, long: number): number => (isLong ? long : ci)

/** A time limit in ms: that of all tests, and `perCaseMs` for each case, which allows for a busy machine. */
export const timeFor = (cases: number, perCaseMs: number): number => 180_000 + cases * perCaseMs

/** Every failure prints the seed. Set `STET_TEST_SEED` to repeat a failure. */
export const seed = Number(process.env['STET_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/**
 * Plays the cases 0 to `cases` - 1 in order, at most `lanes` of them at once. After a failure no further case starts, and
 * the failure is thrown when the others have ended. A long run prints its progress, so that a run that is ended early
 * has a figure.
 */
export async function playCases(
  name: string,
  { cases, lanes }: { cases: number; lanes: number },
  play: (each: number, lane: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const failures: unknown[] = []
  let next = 0
  let ended = 0
  const goOn = async (lane: number) => {
    while (next < cases && failures.length === 0) {
      const each = next
      next += 1
      try {
        await play(each, lane)
      } catch (error) {
        failures.push(error)
        continue
      }
      ended += 1
      if (ended % Math.ceil(cases / 20) === 0) report(name, { ended, of: cases, s: secondsSince(startedAt) })
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, cases) }, (_, lane) => goOn(lane)))
  if (failures.length > 0) throw failures[0]
}

const secondsSince = (startedAt: number) => Math.round((performance.now() - startedAt) / 1_000)

/** Prints what a long run has measured. */
export function report(name: string, measured: Record<string, number>): void {
  if (isLong) console.info(`${name}: ${JSON.stringify({ seed, ...measured })}`)
}

/** Every failure prints the seed. Set `STET_TEST_SEED` to repeat one. */
export const seed = Number(process.env['STET_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** Numbers in [0, 1). The same seed gives the same numbers. */
export type Random = () => number

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

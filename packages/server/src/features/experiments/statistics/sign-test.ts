/** The default verdict of a comparison: are there more broken rows than chance explains? */
import { binomialMasses, upperTail } from './binomial.ts'

export const significance = 0.05

/** A share of rows flips by chance, even if nothing changed. The sentence about the power assumes this share. */
const chanceFlips = 0.1

/** Returns the chance of at least so many broken rows if a changed row breaks as often as it is fixed. */
export function signTest({ broke, fixed }: { broke: number; fixed: number }): number {
  if (broke === 0) return 1
  return upperTail(binomialMasses(broke + fixed, 0.5), broke)
}

/** Returns how often the test refuses a version that breaks the share `loss` of the rows. */
export function signTestPower(rows: number, loss: number, flips = chanceFlips): number {
  const broken = flips / 2 + loss
  const changed = flips + loss
  let power = 0
  for (const [count, chance] of binomialMasses(rows, changed).entries()) {
    if (chance < 1e-12) continue
    const least = leastRefused(count)
    if (least <= count) power += chance * upperTail(binomialMasses(count, broken / changed), least)
  }
  return power
}

/** Returns the smallest number of broken rows among `changed` rows that the test refuses; more than `changed` if none. */
function leastRefused(changed: number): number {
  const masses = binomialMasses(changed, 0.5)
  let least = changed + 1
  for (let tail = 0; least > 0; least -= 1) {
    tail += masses[least - 1] ?? 0
    if (tail >= significance) break
  }
  return least
}

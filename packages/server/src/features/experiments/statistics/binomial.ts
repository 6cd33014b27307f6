/** Exact binomial probabilities. */

// Smaller weights add nothing, and arithmetic with subnormal numbers is slow.
const least = 1e-60

/** Returns P(X = k) for each k from 0 to n. */
export function binomialMasses(n: number, p: number): Float64Array {
  const masses = new Float64Array(n + 1)
  if (p <= 0 || p >= 1) {
    masses[p <= 0 ? 0 : n] = 1
    return masses
  }
  // Weights relative to the mode, because p ** n underflows for large n.
  const mode = Math.min(n, Math.floor((n + 1) * p))
  const odds = p / (1 - p)
  let total = 1
  masses[mode] = 1
  for (let k = mode + 1, weight = 1; k <= n && weight > least; k += 1) {
    weight *= ((n - k + 1) / k) * odds
    masses[k] = weight
    total += weight
  }
  for (let k = mode - 1, weight = 1; k >= 0 && weight > least; k -= 1) {
    weight *= (k + 1) / ((n - k) * odds)
    masses[k] = weight
    total += weight
  }
  for (let k = 0; k <= n; k += 1) masses[k] = (masses[k] ?? 0) / total
  return masses
}

/** Returns P(X ≥ from). */
export function upperTail(masses: Float64Array, from: number): number {
  let sum = 0
  // The smallest terms first keep the sum exact.
  for (let k = masses.length - 1; k >= Math.max(0, from); k -= 1) sum += masses[k] ?? 0
  return Math.min(1, sum)
}

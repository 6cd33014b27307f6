const kept = new Map<string, number>()

/** Returns t with P(T ≤ t) = `share` for a whole number of degrees of freedom. `share` is above 0.5. */
export function studentQuantile(share: number, freedom: number): number {
  const key = `${share} ${freedom}`
  const known = kept.get(key)
  if (known !== undefined) return known
  // Searches the angle atan(t / √freedom), which is bounded.
  let low = 0
  let high = Math.PI / 2
  const wanted = 2 * share - 1
  while (high - low > 1e-13) {
    const middle = (low + high) / 2
    if (centralShare(middle, freedom) < wanted) low = middle
    else high = middle
  }
  const quantile = Math.tan(low) * Math.sqrt(freedom)
  kept.set(key, quantile)
  return quantile
}

/** P(|T| ≤ tan(angle) √freedom), by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function centralShare(angle: number, freedom: number): number {
  const sine = Math.sin(angle)
  const square = Math.cos(angle) ** 2
  const isOdd = freedom % 2 === 1
  let term = isOdd ? Math.cos(angle) : 1
  let sum = freedom === 1 ? 0 : term
  for (let k = isOdd ? 3 : 2; k < freedom; k += 2) {
    term *= (square * (k - 1)) / k
    sum += term
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum
}

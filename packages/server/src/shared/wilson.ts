/** The two-sided 95 % quantile of the normal distribution. */
const z = 1.959963984540054

/** Wilson's score interval for a share, at 95 %. Undefined without observations, because nothing is known then. */
export function wilsonInterval(successes: number, total: number): { low: number; high: number } | undefined {
  if (total <= 0) return undefined
  const share = successes / total
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))
  const middle = share + (z * z) / (2 * total)
  const scale = 1 + (z * z) / total
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) }
}

/**
 * Limits the number of values of a label that clients choose. Without a limit, a tenant could fill the memory of the
 * server and of Prometheus with names.
 */
export interface BoundedLabels {
  /** True for the first `most` keys of at most `longest` characters. The caller labels other keys `other`. */
  isNamed(key: string): boolean
}

export function boundedLabels(most: number, longest: number): BoundedLabels {
  const known = new Set<string>()
  return {
    isNamed(key) {
      if (known.has(key)) return true
      if (known.size >= most || key.length > longest) return false
      known.add(key)
      return true
    },
  }
}

import picomatch from 'picomatch'

/** Which paths a list of patterns takes. */
export interface Matcher {
  (path: string): boolean
  /** The patterns that have taken none of the paths that were asked about so far. */
  idle(): string[]
}

/** A matcher for glob patterns over paths with `/`, relative to one folder. */
export function matcherOf(patterns: readonly string[]): Matcher {
  const idle = new Set(patterns)
  const matchers = patterns.map((pattern) => ({ pattern, isMatch: picomatch(normalized(pattern), options) }))
  const matches = (path: string): boolean => {
    const matching = matchers.filter(({ isMatch }) => isMatch(path))
    for (const { pattern } of matching) idle.delete(pattern)
    return matching.length > 0
  }
  return Object.assign(matches, { idle: () => [...idle] })
}

// A leading "!" would take every path but the ones it names, which no ignore list means: it counts as a character.
const options = { dot: true, nonegate: true, noextglob: true }

/** `./drafts/` means everything in `drafts`. */
function normalized(pattern: string): string {
  const below = pattern.replace(/^(\.\/+)+/, '')
  return below.endsWith('/') ? `${below}**` : below
}

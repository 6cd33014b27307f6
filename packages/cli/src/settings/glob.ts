import picomatch from 'picomatch'
import { CliError } from '../exit-code.ts'

export interface Matcher {
  (path: string): boolean
  idle(): string[]
}

/** Matches paths with `/` relative to one folder. @throws CliError usage if a pattern is too complex */
export function matcherOf(patterns: readonly string[]): Matcher {
  const idle = new Set(patterns)
  const matchers = patterns.map((pattern) => ({ pattern, isMatch: compile(pattern) }))
  const matches = (path: string): boolean => {
    const matching = matchers.filter(({ isMatch }) => isMatch(path))
    for (const { pattern } of matching) idle.delete(pattern)
    return matching.length > 0
  }
  return Object.assign(matches, { idle: () => [...idle] })
}

// A leading "!" is literal. As a negation, one ignore pattern would match all other paths.
const options = { dot: true, nonegate: true, noextglob: true }

// Patterns are untrusted input from a checkout. picomatch compiles them to regular expressions that backtrack over each
// wildcard. Three wildcards cost up to 0.1 s for one name, five cost minutes.
const maxWildcards = 3
const maxLength = 256

/** Matches each segment separately, so that wildcards never backtrack across segments. */
function compile(pattern: string): (path: string) => boolean {
  const segments = segmentsOf(normalized(pattern))
  for (const segment of segments) {
    if ((segment.match(/\*+|\{/g)?.length ?? 0) <= maxWildcards && segment.length <= maxLength) continue
    throw new CliError('usage', `The pattern "${pattern}" is too complex`, {
      hint: `use at most ${maxWildcards} wildcards and ${maxLength} characters between two slashes`,
    })
  }
  const [whole = ''] = segments
  if (segments.length === 1 && whole !== '**') return picomatch(whole, options)
  const tests = segments.map((segment) => (segment === '**' ? undefined : picomatch(segment, options)))
  return (path) => {
    const names = path.split('/')
    let reached = new Set([0])
    for (const test of tests) {
      const next = new Set<number>()
      for (const count of reached) {
        if (!test) for (let end = count; end <= names.length; end++) next.add(end)
        else if (count < names.length && test(names[count] ?? '')) next.add(count + 1)
      }
      reached = next
    }
    return reached.has(names.length)
  }
}

/** Does not split a pattern with a slash inside braces or brackets. */
function segmentsOf(pattern: string): string[] {
  return /[{[][^{[}\]]*\//.test(pattern) ? [pattern] : pattern.split('/')
}

/** Rewrites `./drafts/` to `drafts/**`. */
function normalized(pattern: string): string {
  const below = pattern.replace(/^(\.\/+)+/, '')
  return below.endsWith('/') ? `${below}**` : below
}

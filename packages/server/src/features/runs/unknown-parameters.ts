/** Given parameters that a prompt neither declares nor uses: mostly misspelled ones. */
import { similarNames } from '../../shared/similar-names.ts'
import { parameterNames } from '../templates/parameters.ts'
import type { TemplateScan } from '../templates/template-engine.ts'

export interface UnknownParameter {
  name: string
  /** The parameter that was probably meant. */
  didYouMean?: string
}

// A caller may send a thousand of them, as long as a body may be: a few beginnings tell what is wrong.
const mostNamed = 5
const longestName = 64

export function unknownParameters(
  { config, parameters }: Pick<TemplateScan, 'config' | 'parameters'>,
  given: Readonly<Record<string, unknown>>,
): UnknownParameter[] {
  const known = parameterNames(config, parameters)
  return Object.keys(given)
    .filter((name) => !known.has(name))
    .slice(0, mostNamed)
    .map((name) => {
      const [didYouMean] = similarNames(name, known, { limit: 1, atLeast: 0.5 })
      return { name: name.slice(0, longestName), ...(didYouMean === undefined ? {} : { didYouMean }) }
    })
}

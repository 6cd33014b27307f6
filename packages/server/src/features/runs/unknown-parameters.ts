/** Given parameters that a prompt neither declares nor uses: mostly misspelled ones. */
import { similarNames } from '../../shared/text/similar-names.ts'
import { parameterNames } from '../templates/parameters.ts'
import type { TemplateScan } from '../templates/template-engine.ts'

// A caller may send a thousand of them, as long as a body may be: a few beginnings tell what is wrong.
const mostNamed = 5
const longestName = 64

/** One line of ASCII that names them and what was probably meant; undefined when there are none. */
export function unknownParameters(
  { config, parameters }: Pick<TemplateScan, 'config' | 'parameters'>,
  given: Readonly<Record<string, unknown>>,
): string | undefined {
  const known = parameterNames(config, parameters)
  const unknown = Object.keys(given).filter((name) => !known.has(name))
  if (unknown.length === 0) return undefined
  const sentences = unknown.slice(0, mostNamed).map((name) => {
    const [meant] = similarNames(name, known, { limit: 1, atLeast: 0.5 })
    return `unknown parameter ${quoted(name)}${meant === undefined ? '' : `, did you mean ${quoted(meant)}?`}`
  })
  return sentences.join('; ')
}

/** JSON's quotes and escapes, in ASCII: a header holds nothing else. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, longestName)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The fields of an example as people read and type them. Pure. */
import type { UpdateExampleBody } from '@stet/contract/vocabulary'
import type { Example } from '@stet/sdk'
import { jsonOf } from '../../runs/inputs/input-value.ts'
import { answerTextOf, expectedIn, inputsText } from './answer-texts.ts'
import { checkText, objectIn } from './check-form.ts'
import { tagsIn } from './paste.ts'

/** The fields of an example that people edit. */
export type RowValues = Pick<Example, RowField['name']>

export interface RowField {
  name: 'name' | 'parameters' | 'expected' | 'checks' | 'tags'
  /** The head of its column. */
  label: string
  /** For people who edit it. */
  hint?: string
  isMono?: boolean
  /** The whole value, to be edited. */
  textOf: (row: RowValues) => string
  /** In place of the start of the text, for a cell. */
  shortOf?: (row: RowValues) => string
  /** @throws Error that says what is wrong with the text */
  changeOf: (text: string) => UpdateExampleBody
}

export const rowFields: readonly RowField[] = [
  { name: 'name', label: 'Name', textOf: ({ name }) => name, changeOf: (text) => ({ name: text.trim() }) },
  {
    name: 'parameters',
    label: 'Inputs',
    hint: 'A JSON object with a value for each input.',
    isMono: true,
    textOf: ({ parameters }) => JSON.stringify(parameters, null, 2),
    shortOf: ({ parameters }) => inputsText(parameters),
    changeOf: (text) => ({ parameters: objectIn(text) }),
  },
  {
    name: 'expected',
    label: 'Expected',
    hint: 'The answer that you expect: a text, or JSON. Empty: nothing is expected.',
    textOf: ({ expected }) => answerTextOf(expected),
    changeOf: (text) => ({ expected: expectedIn(text) }),
  },
  {
    name: 'checks',
    label: 'Checks',
    textOf: ({ checks }) => JSON.stringify(checks),
    shortOf: ({ checks }) => checks.map(checkText).join(', '),
    changeOf: (text) => ({ checks: jsonOf(text) as Example['checks'] }),
  },
  {
    name: 'tags',
    label: 'Tags',
    hint: 'Separated by commas. A row with the tag “must” may never break.',
    textOf: ({ tags }) => tags.join(', '),
    changeOf: (text) => ({ tags: tagsIn(text) }),
  },
]

/** @throws Error if there is no such field */
export function fieldOf(name: RowField['name']): RowField {
  const field = rowFields.find((one) => one.name === name)
  if (!field) throw new Error(`No field ${name}`)
  return field
}

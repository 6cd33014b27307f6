/** Generates the table of kinds and features from the wire formats of the kinds. */
import type { answerCases, KindWire, requestCases } from './wires/shape.ts'

const asked: [feature: string, name: (typeof requestCases)[number]][] = [
  ['images by URL', 'image by URL'],
  ['inline images', 'image by content'],
  ['PDF by URL', 'PDF by URL'],
  ['inline PDF', 'PDF by content'],
  ['inline audio', 'sound by content'],
]
const told: [feature: string, name: (typeof answerCases)[number]][] = [
  ['tool calls', 'several calls'],
  ['visible reasoning', 'reasoning'],
  ['sources', 'sources'],
  ['generated images', 'image'],
]

export function featureRows(kinds: Readonly<Record<string, KindWire>>): string {
  const wires = Object.values(kinds)
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['feature', ...Object.keys(kinds)]),
    row(['---', ...wires.map(() => '---')]),
    ...asked.map(([feature, name]) =>
      row([feature, ...wires.map(({ requests }) => (requests[name] instanceof Error ? '–' : 'yes'))]),
    ),
    row(['structured answers', ...wires.map(structured)]),
    ...told.map(([feature, name]) => row([feature, ...wires.map(({ answers }) => shown(answers[name]))])),
  ].join('\n')
}

function shown(answer: KindWire['answers']['text']): string {
  if (typeof answer === 'string') return '–'
  return answer.told.reasoning === undefined && answer.told.text?.includes('<think>') ? 'in the text' : 'yes'
}

function structured({ requests }: KindWire): string {
  const form = JSON.stringify(requests['structured answer'])
  if (form.includes('"json_object"')) return 'JSON mode'
  return form.includes('"json_schema"') ? 'schema' : 'by a tool'
}

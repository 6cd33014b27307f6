/** Configurations of promptfoo: read exactly, with their losses, or refused with the line. */
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPromptfoo } from '../../src/commands/examples/promptfoo/read-promptfoo.ts'
import { nameRows, RefusedRow } from '../../src/commands/examples/rows/row.ts'
import { readPromptfooFiles as read } from '../support/promptfoo.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

type Files = Record<string, string>

const contains = (text: string, more: object = {}) => ({ type: 'contains', all: [text], caseSensitive: true, ...more })

interface Case {
  yaml: string
  files?: Files
  rows: object[]
  losses?: (string | RegExp)[]
}

const cases: Record<string, Case> = {
  'variables and a description': {
    yaml: `tests:
  - description: Late order
    vars: { ticket: Where is it?, count: 2, urgent: true, order: { id: "007" } }`,
    rows: [
      {
        name: 'Late order',
        line: 2,
        file: 'evals/config.yaml',
        parameters: { ticket: 'Where is it?', count: 2, urgent: true, order: { id: '007' } },
        checks: [],
      },
    ],
  },
  'every assertion that has a counterpart': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: equals, value: Yes. }
      - { type: equals, value: { ok: true } }
      - { type: contains, value: a, b }
      - { type: icontains, value: REFUND }
      - { type: contains-any, value: [a, b] }
      - { type: contains-all, value: "a, b" }
      - { type: regex, value: '^\\d+$' }
      - { type: is-json }
      - { type: cost, threshold: 0.01 }
      - { type: latency, threshold: 500 }`.replace('value: a, b }', 'value: "a, b" }'),
    rows: [
      {
        checks: [
          { type: 'exact', value: 'Yes.' },
          { type: 'exact', value: { ok: true } },
          contains('a, b'),
          contains('REFUND', { caseSensitive: false }),
          { type: 'contains', any: ['a', 'b'], caseSensitive: true },
          { type: 'contains', all: ['a', 'b'], caseSensitive: true },
          { type: 'regex', pattern: '^\\d+$' },
          { type: 'json_schema', schema: {} },
          { type: 'cost', max: 0.01 },
          { type: 'latency', max: 500 },
        ],
      },
    ],
  },
  'negated assertions': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: not-contains, value: sorry }
      - { type: not-equals, value: 1 }
      - { type: not-is-json }
      - { type: not-icontains-any, value: [a] }`,
    rows: [
      {
        checks: [
          contains('sorry', { negate: true }),
          { type: 'exact', value: '1', negate: true },
          { type: 'json_schema', schema: {}, negate: true },
          { type: 'contains', any: ['a'], caseSensitive: false, negate: true },
        ],
      },
    ],
  },
  'a schema as a mapping, as text and in a file': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: is-json, value: { type: object } }
      - type: is-json
        value: |
          type: array
      - { type: is-json, value: file://schema.json }`,
    files: { 'schema.json': '{"type":"number"}' },
    rows: [{ checks: ['object', 'array', 'number'].map((type) => ({ type: 'json_schema', schema: { type } })) }],
  },
  'defaults for all tests': {
    yaml: `defaultTest:
  vars: { tone: polite, a: default }
  assert: [{ type: not-contains, value: AI }]
tests:
  - vars: { a: x }
    assert: [{ type: contains, value: b }]
  - vars: { b: y }`,
    rows: [
      { parameters: { tone: 'polite', a: 'x' }, checks: [contains('AI', { negate: true }), contains('b')] },
      { parameters: { tone: 'polite', a: 'default', b: 'y' }, checks: [contains('AI', { negate: true })] },
    ],
  },
  'defaults in a file, and a test without them': {
    yaml: `defaultTest: file://default.yaml
tests:
  - vars: { a: x }
    options: { disableDefaultAsserts: true }
  - vars: { a: y }`,
    files: { 'default.yaml': 'assert: [{ type: contains, value: b }]' },
    rows: [{ checks: [] }, { checks: [contains('b')] }],
  },
  'texts between commas, quoted and in a list': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: contains-any, value: '"Rome, Italy", Oslo , , "a ""b"""' }
      - { type: contains-all, value: [" a ", b] }
      - { type: contains-any, value: '5" disk, x "y"' }
      - { type: contains-any, value: "two\\nlines, \\"a \\\\\\"b\\\\\\" \\\\c\\"" }
      - { type: contains-any, value: '"open' }
      - { type: contains-any, value: 'x, "a" b' }
      - { type: is-json, value: '' }`,
    rows: [
      {
        checks: [
          { type: 'contains', any: ['Rome, Italy', 'Oslo', 'a "b"'], caseSensitive: true },
          { type: 'contains', all: [' a ', 'b'], caseSensitive: true },
          { type: 'contains', any: ['5" disk', 'x "y"'], caseSensitive: true },
          { type: 'contains', any: ['two\nlines', 'a "b" \\c'], caseSensitive: true },
          { type: 'json_schema', schema: {} },
        ],
      },
    ],
    losses: [
      '2: contains-any with a quote that is not closed before a comma',
      '2: contains-any with a quote that is not closed before a comma',
    ],
  },
  'a criterion for a judge': {
    yaml: `tests:
  - description: n
    vars: { a: x }
    assert:
      - { type: llm-rubric, value: Is polite }
      - { type: contains, value: b }`,
    rows: [{ tags: ['needs-judge'], checks: [contains('b')] }],
    losses: ['2: llm-rubric needs a judge: Is polite'],
  },
  'other judges': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: factuality, value: Paris is in France }
      - { type: model-graded-closedqa, value: Names a city }
      - { type: g-eval, value: [a, b] }`,
    rows: [{ tags: ['needs-judge'], checks: [] }],
    losses: [/factuality needs a judge: Paris/, /closedqa needs a judge/, /g-eval needs a judge: \["a","b"\]/],
  },
  'programs as losses': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - { type: javascript, value: output.length < 9 }
      - { type: python, value: file://check.py }
      - { type: webhook, value: "https://example.com" }
      - { type: similar, value: b, threshold: 0.8 }`,
    rows: [{ checks: [] }],
    losses: [
      '2: javascript has no counterpart',
      '2: check.py is a program',
      '2: webhook has no counterpart',
      '2: similar has no counterpart',
    ],
  },
  'parts of the configuration as losses': {
    yaml: `description: Mine
prompts: [file://prompt.txt]
providers:
  - { id: openai:gpt-5, config: { max: .inf } }
tests:
  - vars: { a: x }`,
    rows: [{ parameters: { a: 'x' } }],
    losses: ['2: prompts are left out', '4: providers are left out'],
  },
  'parts of a test as losses': {
    yaml: `tests:
  - vars: { a: x }
    threshold: 0.5
    provider: openai:gpt-5
    options: { transform: output.trim(), runSerially: true }
    assert: [{ type: contains, value: b, transform: output.x }]`,
    rows: [{ checks: [] }],
    losses: [
      '2: threshold is left out',
      '2: provider is left out',
      '2: the option transform is left out',
      '2: contains with a transform',
    ],
  },
  'a row for each value of a list': {
    yaml: `tests:
  - description: Greet {{ who }}
    vars: { who: [Ada, Leo], in: [en, de] }
    assert: [{ type: contains, value: "{{ who }}" }]`,
    rows: [
      { name: 'Greet Ada', parameters: { who: 'Ada', in: 'en' }, checks: [contains('Ada')] },
      { name: 'Greet Ada 2', parameters: { who: 'Ada', in: 'de' } },
      { name: 'Greet Leo', parameters: { who: 'Leo', in: 'en' }, checks: [contains('Leo')] },
      { name: 'Greet Leo 2', parameters: { who: 'Leo', in: 'de' } },
    ],
  },
  'a list as a value': {
    yaml: `tests:
  - vars: { who: [Ada, Leo] }
    options: { disableVarExpansion: true }`,
    rows: [{ parameters: { who: ['Ada', 'Leo'] } }],
  },
  'templates in variables and checks': {
    yaml: `tests:
  - vars: { city: Rome, question: "Weather in {{city}}?" }
    assert:
      - { type: contains, value: "{{ city }}" }
      - { type: contains, value: "{{ city | upper }}" }`,
    rows: [{ parameters: { city: 'Rome', question: 'Weather in Rome?' }, checks: [contains('Rome')] }],
    losses: ['2: the template "{{ city | upper }}"'],
  },
  'variables in files': {
    yaml: `tests:
  - vars: { text: file://texts/a.txt, data: file://data.json, image: file://cat.png, script: file://make.js }`,
    files: { 'texts/a.txt': 'Dear all,\n', 'data.json': '{"n":[1]}' },
    rows: [{ parameters: { text: 'Dear all,', data: { n: [1] } } }],
    losses: [/the variable image: cat.png is no text/, /the variable script: make.js is a program/],
  },
  'all variables in one file': {
    yaml: 'tests: [{ vars: file://vars.yaml }]',
    files: { 'vars.yaml': 'a: x\nb: 2\n' },
    rows: [{ parameters: { a: 'x', b: 2 } }],
  },
  'tests in files': {
    yaml: `tests:
  - file://more.yaml
  - vars: { a: x }`,
    files: { 'more.yaml': '- vars: { a: y }\n\n- vars: { a: z }\n' },
    rows: [
      { parameters: { a: 'y' }, file: 'evals/more.yaml', line: 1 },
      { parameters: { a: 'z' }, file: 'evals/more.yaml', line: 3 },
      { parameters: { a: 'x' }, file: 'evals/config.yaml', line: 3 },
    ],
  },
  'tests as a CSV file': {
    yaml: 'tests: tests.csv',
    files: {
      'tests.csv': `question,__expected,__expected2,__description
Hi,Hello,,Greeting
Bye,contains: See you,not-icontains:sorry,
Cost?,cost(0.5),grade: is short,
Odd?,fn:output.x,latency(90),`,
    },
    rows: [
      { name: 'Greeting', parameters: { question: 'Hi' }, checks: [{ type: 'exact', value: 'Hello' }], line: 2 },
      { checks: [contains('See you'), { type: 'contains', all: ['sorry'], caseSensitive: false, negate: true }] },
      { checks: [{ type: 'cost', max: 0.5 }], tags: ['needs-judge'] },
      { checks: [{ type: 'latency', max: 90 }], line: 5 },
    ],
    losses: ['4: llm-rubric needs a judge: is short', '5: javascript has no counterpart'],
  },
  'tests as JSON Lines': {
    yaml: 'tests: file://tests.jsonl',
    files: { 'tests.jsonl': '{"vars":{"a":"x"}}\n\n{"vars":{"a":"y"}}\n' },
    rows: [{ line: 1 }, { line: 3, parameters: { a: 'y' } }],
  },
  'a file that is a list of tests': {
    yaml: '- vars: { a: x }\n- vars: { a: y }\n',
    rows: [{ line: 1 }, { line: 2 }],
  },
  'tests that a program makes': {
    yaml: `tests:
  - file://make.py:generate
  - path: file://make.js
  - https://docs.example.com/sheet
  - file://tests/*.yaml
  - vars: { a: x }`,
    rows: [{ parameters: { a: 'x' } }],
    losses: [
      /make.py:generate is a program/,
      /make.js are left out/,
      /is not a file of this folder/,
      /is a pattern of files/,
    ],
  },
  scenarios: {
    yaml: `scenarios:
  - config:
      - vars: { language: French, expected: Bonjour }
      - vars: { language: German, expected: Hallo }
    tests:
      - description: "{{language}}: {{input}}"
        vars: { input: Hello }
        assert: [{ type: contains, value: "{{expected}}" }]`,
    rows: [
      {
        name: 'French: Hello',
        parameters: { language: 'French', expected: 'Bonjour', input: 'Hello' },
        checks: [contains('Bonjour')],
      },
      { name: 'German: Hello', checks: [contains('Hallo')], line: 6 },
    ],
  },
  'anchors and references': {
    yaml: `assertionTemplates:
  short: { type: regex, value: "^.{1,9}$" }
shared: &shared
  - { type: contains, value: b }
tests:
  - vars: { a: x }
    assert: [{ $ref: "#/assertionTemplates/short" }]
  - vars: { a: y }
    assert: *shared`,
    rows: [{ checks: [{ type: 'regex', pattern: '^.{1,9}$' }] }, { checks: [contains('b')] }],
  },
  'sets of assertions': {
    yaml: `tests:
  - vars: { a: x }
    assert:
      - type: assert-set
        assert: [{ type: contains, value: b }, { type: latency, threshold: 5 }]
      - type: assert-set
        threshold: 0.5
        assert: [{ type: contains, value: c }]`,
    rows: [{ checks: [contains('b'), { type: 'latency', max: 5 }] }],
    losses: ['2: assert-set with a threshold'],
  },
  'the first ten checks': {
    yaml: `tests:
  - vars: { a: x }
    assert: [${Array.from({ length: 12 }, (_, n) => `{ type: contains, value: v${n} }`).join(', ')}]`,
    rows: [{ checks: Array.from({ length: 10 }, (_, n) => contains(`v${n}`)) }],
    losses: ['2: a row has at most 10 checks: the last 2 are left out'],
  },
  'assertions without what they need': {
    yaml: `tests:
  - vars: { a: x }
    assert: [{ type: cost }, { type: contains }, { type: equals }, { value: x }, text]`,
    rows: [{ checks: [] }],
    losses: [
      /cost without a threshold/,
      /contains without a text/,
      /equals without a value/,
      /without a type/,
      /no mapping/,
    ],
  },
}

test.each(Object.entries(cases))('reads %s', async (_rule, { yaml, files, rows, losses = [] }) => {
  const found = await read(yaml, files)
  expect(found.rows).toMatchObject(rows)
  expect(found.rows).toHaveLength(rows.length)
  expect(found.losses).toEqual(losses.map((loss) => (typeof loss === 'string' ? loss : expect.stringMatching(loss))))
})

test.each<[string, string, string, number, string, Files?]>([
  [
    'a number that would be rounded',
    'tests:\n  - vars:\n      a: 9007199254740993\n',
    'evals/config.yaml',
    3,
    'more digits',
  ],
  [
    'an infinite number in a row',
    'tests:\n  - vars: { a: x }\n  - vars: { b: [[.inf]] }\n',
    'evals/config.yaml',
    3,
    '0: Infinity is not a finite number',
  ],
  [
    'a rounded number in JSON Lines',
    'tests: file://a.jsonl',
    'evals/a.jsonl',
    2,
    '9007199254740993 has more digits',
    { 'a.jsonl': '{"vars":{"a":9007199254740992}}\n{"vars":{"a":9007199254740993}}\n' },
  ],
  ['broken YAML', 'tests:\n  - vars: { a: x\n', 'evals/config.yaml', 3, 'Flow map in block collection'],
  ['a text', 'just text', 'evals/config.yaml', 1, 'a configuration of promptfoo'],
  ['a number as a test', 'tests:\n  - vars: { a: x }\n  - 7\n', 'evals/config.yaml', 3, 'a test is a mapping'],
  ['variables that are no mapping', 'tests:\n  - vars: [7]\n', 'evals/config.yaml', 2, 'are a mapping'],
  ['a missing file', 'tests:\n  - vars: { a: file://none.txt }\n', 'evals/config.yaml', 2, 'none.txt does not exist'],
  [
    'a file outside',
    'tests:\n  - vars: { a: file:///etc/hostname }\n',
    'evals/config.yaml',
    2,
    'is outside of the folder',
  ],
  ['a path that leads outside', 'tests: file://../../etc/hosts', 'evals/config.yaml', 1, ''],
  [
    'a fault in another file',
    'tests: file://more.yaml',
    'evals/more.yaml',
    2,
    'a test is a mapping',
    { 'more.yaml': '- vars: {}\n- 1\n' },
  ],
  [
    'a fault in a CSV file',
    'tests: more.csv',
    'evals/more.csv',
    3,
    'the number of cells',
    { 'more.csv': 'a,b\nx,y\nz\n' },
  ],
  [
    'files that name one another',
    'tests: file://a.yaml',
    'evals/a.yaml',
    1,
    'name one another',
    { 'a.yaml': '- file://a.yaml\n' },
  ],
  [
    'lists that make too many rows',
    `tests:\n  - vars: { a: [${Array(40).fill(1)}], b: [${Array(40).fill(1)}] }`,
    'evals/config.yaml',
    2,
    'more than 1000 rows',
  ],
])('refuses %s', async (_rule, yaml, file, line, message, files) => {
  const refusal = await read(yaml, files).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(RefusedRow)
  expect(refusal).toMatchObject({ file, line, message: expect.stringContaining(message) })
})

// The table of assertions in promptfoo's reference, without those that have a counterpart.
const otherTypes =
  'contains-json contains-html is-html is-sql contains-sql is-xml contains-xml is-refusal javascript python ruby webhook ' +
  'rouge-n bleu gleu levenshtein meteor perplexity perplexity-score is-valid-function-call is-valid-openai-function-call ' +
  'is-valid-openai-tools-call tool-call-f1 trace-span-count trace-span-duration trace-error-spans guardrails starts-with ' +
  'word-count finish-reason skill-used trajectory:tool-used trajectory:goal-success similar similar:dot classifier ' +
  'moderation answer-relevance context-recall context-relevance context-faithfulness conversation-relevance pi ' +
  'select-best max-score human llm-rubric model-graded-closedqa factuality g-eval search-rubric'

test('cells of a CSV file with any other type of promptfoo are losses', async () => {
  const cells = otherTypes.split(' ').flatMap((type) => [type, `not-${type}`, `${type}(0.5):x`])
  const csv = `a,__expected\n${cells.map((cell) => `x,${cell}\n`).join('')}`
  const { rows, losses } = await read('tests: tests.csv', { 'tests.csv': csv })
  expect(rows.flatMap(({ checks }) => checks)).toEqual([])
  expect(losses).toHaveLength(cells.length)
})

test('cells of a CSV file with other types of assertions are losses, and no texts to equal', async () => {
  const cells = ['model-graded-closedqa:Is it polite?', 'rouge-n(0.5):abc', 'is-sql', 'answer-relevance', 'not-is-html']
  const csv = `a,__expected\n${[...cells, 'note: this is a text'].map((cell) => `x,${cell}\n`).join('')}`
  const { rows, losses } = await read('tests: tests.csv', { 'tests.csv': csv })
  expect(rows.flatMap(({ checks }) => checks)).toEqual([{ type: 'exact', value: 'note: this is a text' }])
  expect(losses.map((loss) => loss.slice(0, 20))).toHaveLength(cells.length)
})

test('assertions that are no list, and a schema that is no YAML, are losses', async () => {
  const { losses } = await read(`tests:
  - { vars: { a: x }, assert: { type: contains, value: b } }
  - { vars: { a: y }, assert: [{ type: is-json, value: "{a: [" }] }`)
  expect(losses).toEqual(['2: assert is left out: it is no list', '3: is-json with a schema that is no YAML'])
})

test('references that multiply are refused', async () => {
  const a = Array.from({ length: 30 }, () => "{ $ref: '#/a' }").join(', ')
  await expect(read(`a: [${a}]\ntests: []`)).rejects.toThrow('$ref makes more than 100000 values')
})

test('a link does not lead outside of the folder', async () => {
  const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
  await writeFile(join(outside, 'secret.txt'), 'secret')
  await symlink(join(outside, 'secret.txt'), join(folder, 'a.txt'))
  const text = 'tests: [{ vars: { a: file://a.txt } }]'
  await expect(readPromptfoo({ folder, shown: 'config.yaml', text })).rejects.toThrow('outside of the folder')
})

test('tests with one description are different rows', async () => {
  const text = 'tests: [{ description: n, vars: { a: x } }, { description: n, vars: { a: y } }]'
  const { rows } = await readPromptfoo({ folder: await temporaryFolder(), shown: 'config.yaml', text })
  expect(nameRows(rows).map(({ name }) => name)).toEqual(['n', 'n 2'])
})

/** The forms of promptfoo's own examples, each named after its folder, with texts of our own. */
import { expect, test } from 'vitest'
import { readPromptfooFiles } from '../support/promptfoo.ts'

interface Example {
  yaml: string
  files?: Record<string, string>
  /** Each row: its parameters, and its checks and tags in short. */
  rows: [parameters: object, checks: string][]
  losses: string[]
}

const head = 'prompts: [file://prompts.txt]\nproviders: [openai:gpt-6-luna]\n'
const headLosses = ['1: prompts are left out', '2: providers are left out']

const examples: Record<string, Example> = {
  'getting-started': {
    yaml: `${head}description: 'First steps'
tests:
  - vars: { language: German, input: Hello }
    assert: [{ type: contains, value: 'Hallo' }]
  - vars: { language: Spanish, input: Where is the station? }
    assert: [{ type: icontains, value: 'Dónde está la estación' }]`,
    rows: [
      [{ language: 'German', input: 'Hello' }, 'contains Hallo'],
      [{ language: 'Spanish', input: 'Where is the station?' }, 'icontains Dónde está la estación'],
    ],
    losses: headLosses,
  },
  'simple-cli': {
    yaml: `${head}tests:\n  - vars: { language: Pirate, body: I'm thirsty }\n  - vars:\n      language: Pirate\n      body: Yes`,
    rows: [
      [{ language: 'Pirate', body: "I'm thirsty" }, ''],
      [{ language: 'Pirate', body: 'Yes' }, ''],
    ],
    losses: headLosses,
  },
  'simple-test': {
    yaml: `${head}tests:
  - description: Same text
    vars: { body: Yes }
    assert: [{ type: equals, value: Aye }]
  - description: Meaning
    vars: { body: Hi }
    assert:
      - { type: javascript, value: output.startsWith('A') }
      - { type: python, value: 'max(0, len(output) - 9)' }
      - { type: similar, value: 'Ahoy, all' }
  - description: A judge
    vars: { body: A fox }
    assert:
      - { type: llm-rubric, value: Talks like a sailor }
      - $ref: '#/assertionTemplates/noise'
outputPath: output.csv
assertionTemplates:
  noise: { type: icontains, value: arrr }`,
    rows: [
      [{ body: 'Yes' }, 'exact Aye'],
      [{ body: 'Hi' }, ''],
      [{ body: 'A fox' }, 'icontains arrr #needs-judge'],
    ],
    losses: [
      ...headLosses,
      '7: javascript has no counterpart',
      '7: python has no counterpart',
      '7: similar has no counterpart',
      '13: llm-rubric needs a judge: Talks like a sailor',
    ],
  },
  'simple-csv': {
    yaml: `${head}tests: file://tests.csv`,
    files: {
      'tests.csv': `language,body,style,__expected
French,"Hello","{""tone"":""formal"",""length"":""brief""}","icontains:bonjour"
Pirate,"I'm thirsty",,"icontains: Ahoy"
`,
    },
    rows: [
      [{ language: 'French', body: 'Hello', style: '{"tone":"formal","length":"brief"}' }, 'icontains bonjour'],
      [{ language: 'Pirate', body: "I'm thirsty", style: '' }, 'icontains Ahoy'],
    ],
    losses: headLosses,
  },
  'csv-metadata': {
    yaml: `${head}tests: file://tests.csv`,
    files: {
      'tests.csv': `topic,__expected1,__expected2,__metadata:category,__metadata:tags[]
"heat","contains: warm","llm-rubric:Is {{topic}} explained?","physics","a,b\\,c"
`,
    },
    rows: [[{ topic: 'heat' }, 'contains warm #needs-judge']],
    losses: [
      ...headLosses,
      '2: __metadata:category is left out',
      '2: __metadata:tags[] is left out',
      '2: llm-rubric needs a judge: Is heat explained?',
    ],
  },
  'eval-customer-support-rubric': {
    yaml: 'tests: file://tests.csv',
    files: {
      'tests.csv': `__description,language,message,__metadata:severity,__threshold
"Refund in Spanish","es","Quiero mi dinero, por favor","high",
"Outage","en","My line is down","high","0"
`,
    },
    rows: [
      [{ language: 'es', message: 'Quiero mi dinero, por favor' }, ''],
      [{ language: 'en', message: 'My line is down' }, ''],
    ],
    losses: ['2: __metadata:severity is left out', '3: __metadata:severity is left out', '3: __threshold is left out'],
  },
  'eval-self-grading': {
    yaml: 'tests: tests.csv',
    files: {
      'tests.csv': 'name,question,__expected\nBob,Where is my order?,grade:Does not say that it is a program\n',
    },
    rows: [[{ name: 'Bob', question: 'Where is my order?' }, ' #needs-judge']],
    losses: ['2: llm-rubric needs a judge: Does not say that it is a program'],
  },
  'eval-custom-grader-csv': {
    yaml: 'tests: tests.csv',
    files: { 'tests.csv': 'body,__expected\nHi,javascript:file://grade.ts\nHo,file://grade.py\n' },
    rows: [
      [{ body: 'Hi' }, ''],
      [{ body: 'Ho' }, ''],
    ],
    losses: ['2: grade.ts is a program', '3: grade.py is a program'],
  },
  'assistant-cli': {
    yaml: 'tests: tests.csv',
    files: { 'tests.csv': 'name,question\nAda,Is it in stock?\n' },
    rows: [[{ name: 'Ada', question: 'Is it in stock?' }, '']],
    losses: [],
  },
  'self-grading': {
    yaml: `${head}defaultTest:
  assert:
    - { type: llm-rubric, value: Does not say that it is a program }
    - type: javascript
      # Shorter is better
      value: Math.max(0, 1 - output.length / 900);
tests:
  - vars: { name: Bob, question: Where is it? }`,
    rows: [[{ name: 'Bob', question: 'Where is it?' }, ' #needs-judge']],
    losses: [
      ...headLosses,
      '10: llm-rubric needs a judge: Does not say that it is a program',
      '10: javascript has no counterpart',
    ],
  },
  'multiple-translations': {
    yaml: `${head}tests:
  - vars:
      language: [French, German]
      input: ['Hello', 'Good night']
    assert: [{ type: similar, value: Hello, threshold: 0.8 }]`,
    rows: [
      [{ language: 'French', input: 'Hello' }, ''],
      [{ language: 'French', input: 'Good night' }, ''],
      [{ language: 'German', input: 'Hello' }, ''],
      [{ language: 'German', input: 'Good night' }, ''],
    ],
    losses: [...headLosses, ...Array(4).fill('4: similar has no counterpart')],
  },
  'multiple-translations-scenarios': {
    yaml: `${head}scenarios:
  - config:
      - vars: { language: Spanish, hello: Hola }
      - vars: { language: German, hello: Hallo }
    tests:
      - description: A greeting
        vars: { input: Hello }
        assert: [{ type: similar, value: '{{hello}}', threshold: 0.90 }]
      - description: Contained
        vars: { input: Hello }
        assert: [{ type: contains, value: '{{hello}}' }]`,
    rows: [
      [{ language: 'Spanish', hello: 'Hola', input: 'Hello' }, ''],
      [{ language: 'Spanish', hello: 'Hola', input: 'Hello' }, 'contains Hola'],
      [{ language: 'German', hello: 'Hallo', input: 'Hello' }, ''],
      [{ language: 'German', hello: 'Hallo', input: 'Hello' }, 'contains Hallo'],
    ],
    losses: [...headLosses, '8: similar has no counterpart', '8: similar has no counterpart'],
  },
  'nunjucks-custom-filters': {
    yaml: `${head}nunjucksFilters: { shout: ./shout.js }\ntests:\n  - vars: { body: Hi }`,
    rows: [[{ body: 'Hi' }, '']],
    losses: [...headLosses, '3: nunjucksFilters are left out'],
  },
  'f-score': {
    yaml: `${head}defaultTest:
  assert:
    - type: is-json
    - { type: javascript, value: 'output.mood === context.vars.mood', metric: accuracy }
    - { type: javascript, value: 'output.mood ? 1 : 0', metric: hits, weight: 0 }
derivedMetrics:
  - { name: precision, value: hits / (hits + misses) }
tests: file://sample.csv`,
    files: { 'sample.csv': 'text,mood\n"Great, really",positive\n' },
    rows: [[{ text: 'Great, really', mood: 'positive' }, 'json_schema']],
    losses: [
      ...headLosses,
      '9: derivedMetrics are left out',
      '2: javascript has no counterpart',
      '2: javascript with weight 0 decides nothing',
    ],
  },
  'rag-eval': {
    yaml: `${head}tests:
  - vars: { query: What needs no approval?, context: file://docs/rules.md }
    assert:
      - { type: contains, value: '$500' }
      - { type: factuality, value: a manager approves }
      - { type: answer-relevance, threshold: 0.9 }
      - { type: context-recall, threshold: 0.9, value: up to $500 }
      - { type: context-relevance, threshold: 0.9 }
      - { type: context-faithfulness, threshold: 0.9 }`,
    files: { 'docs/rules.md': '# Rules\n\nUp to $500.\n' },
    rows: [[{ query: 'What needs no approval?', context: '# Rules\n\nUp to $500.' }, 'contains $500 #needs-judge']],
    losses: [
      ...headLosses,
      '4: factuality needs a judge: a manager approves',
      '4: answer-relevance has no counterpart',
      '4: context-recall has no counterpart',
      '4: context-relevance has no counterpart',
      '4: context-faithfulness has no counterpart',
    ],
  },
  'assertion-scoring-override': {
    yaml: `${head}defaultTest:
  assertScoringFunction: file://./mean.js
  assert: [{ type: llm-rubric, value: 'Rate {{text}} in {{language}}', metric: accuracy }]
  options: { provider: { text: openai:gpt-6-luna } }
tests:
  - description: Own scoring
    vars: { language: German, text: Hi }
    assert: [{ type: contains, value: Hallo, metric: greeting }]
    assertScoringFunction: file://./least.py:score`,
    rows: [[{ language: 'German', text: 'Hi' }, 'contains Hallo #needs-judge']],
    losses: [...headLosses, '8: assertScoringFunction is left out', '8: llm-rubric needs a judge: Rate Hi in German'],
  },
  'openai-function-call': {
    yaml: `${head}tests:
  - vars: { city: Boston }
    assert:
      - type: is-json
      - type: is-valid-openai-function-call
  - vars: { city: New York }
    assert:
      - { type: equals, value: get_weather, transform: output.name }`,
    rows: [
      [{ city: 'Boston' }, 'json_schema'],
      [{ city: 'New York' }, ''],
    ],
    losses: [...headLosses, '4: is-valid-openai-function-call has no counterpart', '8: equals with a transform'],
  },
  'openai-tools-call': {
    yaml: `${head}tests:
  - vars: { city: Boston }
    assert: [{ type: is-json }, { type: is-valid-openai-tools-call }]
  - vars: { city: New York }
    options: { transform: 'output[0].function.name' }
    assert: [{ type: equals, value: get_weather }]`,
    rows: [
      [{ city: 'Boston' }, 'json_schema'],
      [{ city: 'New York' }, 'exact get_weather'],
    ],
    losses: [...headLosses, '4: is-valid-openai-tools-call has no counterpart', '6: the option transform is left out'],
  },
  'json-output': {
    yaml: `${head}tests:
  - vars: { item: Lime }
    options: { transform: JSON.parse(output) }
    assert:
      - type: is-json
        value:
          required: ['color']
          type: object
          properties: { color: { type: string } }
      - { type: contains-any, transform: output.countries, value: [Mexico, Costa Rica] }`,
    rows: [[{ item: 'Lime' }, 'json_schema color']],
    losses: [...headLosses, '4: the option transform is left out', '4: contains-any with a transform'],
  },
  'structured-outputs-config': {
    yaml: `prompts:
  - { label: With steps, raw: 'Solve {{problem}}', config: { response_format: { type: json_schema } } }
providers: [{ id: azure:chat:x, label: x }]
defaultTest:
  assert: [{ type: is-json }]
tests:
  - vars: { problem: '8x + 29 = 0' }
    assert:
      - type: contains-any
        value:
          - -3.625
          - -29/8
  - vars: { problem: 'sqrt(x) = 4.9' }
    assert: [{ type: contains, value: 24.01 }]`,
    rows: [
      [{ problem: '8x + 29 = 0' }, 'json_schema, contains any -3.625|-29/8'],
      [{ problem: 'sqrt(x) = 4.9' }, 'json_schema, contains 24.01'],
    ],
    losses: ['2: prompts are left out', '3: providers are left out'],
  },
  'adaline-structured-output': {
    yaml: `${head}tests:
  - vars: { query: "I was charged twice." }
    assert:
      - { type: is-json, metric: Valid }
      - { type: javascript, value: output.category === 'billing', metric: Category }
      - { type: llm-rubric, value: "Is the summary right?", metric: Summary }`,
    rows: [[{ query: 'I was charged twice.' }, 'json_schema #needs-judge']],
    losses: [...headLosses, '4: javascript has no counterpart', '4: llm-rubric needs a judge: Is the summary right?'],
  },
  'agentic-sdk-comparison': {
    yaml: `${head}defaultTest: { options: { timeout: 90000 } }
tests:
  - description: Find weak points
    assert: [{ type: javascript, value: "return { pass: true, score: 1, reason: '' }" }]`,
    rows: [[{}, '']],
    losses: [...headLosses, '5: the option timeout is left out', '5: javascript has no counterpart'],
  },
  'store-and-reuse-outputs': {
    yaml: `${head}tests:
  - vars: { message: Name a fruit }
    options: { storeOutputAs: fruit }
  - vars: { message: 'Why {{fruit}}?' }`,
    rows: [
      [{ message: 'Name a fruit' }, ''],
      [{ message: 'Why {{fruit}}?' }, ''],
    ],
    losses: [
      ...headLosses,
      '4: the option storeOutputAs is left out',
      '6: the variable message keeps the template "Why {{fruit}}?"',
    ],
  },
  'multiple-turn-conversation': {
    yaml: `${head}defaultTest: { vars: { system_message: You are kind } }
tests:
  - vars: { question: Who founded it? }
    metadata: { conversationId: first }`,
    rows: [[{ system_message: 'You are kind', question: 'Who founded it?' }, '']],
    losses: [...headLosses, '5: metadata is left out'],
  },
  'g-eval': {
    yaml: `${head}tests:
  - assert:
      - type: g-eval
        value: >-
          Coherence - all sentences
          fit together.
  - assert: [{ type: g-eval, value: [Coherence, Fluency] }]`,
    rows: [
      [{}, ' #needs-judge'],
      [{}, ' #needs-judge'],
    ],
    losses: [
      ...headLosses,
      '4: g-eval needs a judge: Coherence - all sentences fit together.',
      '9: g-eval needs a judge: ["Coherence","Fluency"]',
    ],
  },
  'huggingface-dataset-factuality': {
    yaml: `${head}defaultTest: { options: { factuality: { subset: 1.0, disagree: 0.0 } } }
tests: file://load.ts:generate_tests`,
    rows: [],
    losses: [...headLosses, '4: tests are left out: load.ts:generate_tests is a program'],
  },
  'gpt-4o-temperature-comparison': {
    yaml: `${head}tests:
  - vars: { message: What's the capital of France? }
  - vars: { message: Is it raining in Oslo? }
    assert: [{ type: llm-rubric, value: does not claim to know }]`,
    rows: [
      [{ message: "What's the capital of France?" }, ''],
      [{ message: 'Is it raining in Oslo?' }, ' #needs-judge'],
    ],
    losses: [...headLosses, '5: llm-rubric needs a judge: does not claim to know'],
  },
  mistral: {
    yaml: `${head}tests:
  - vars: { problem: How many apples? }
    assert: [{ type: cost, threshold: 0.10 }, { type: contains, value: '9' }, { type: latency, threshold: 4000 }]`,
    rows: [[{ problem: 'How many apples?' }, 'cost 0.1, contains 9, latency 4000']],
    losses: headLosses,
  },
  'variables in several files': {
    yaml: `tests:\n  - vars: [file://shared.yaml, own.yaml]\n  - vars: vars/*.yaml`,
    files: { 'shared.yaml': 'a: x\nb: y\n', 'own.yaml': 'b: z\n' },
    rows: [
      [{ a: 'x', b: 'z' }, ''],
      [{}, ''],
    ],
    losses: ['3: the variables: vars/*.yaml is a pattern of files; name each file'],
  },
}

test.each(Object.entries(examples))('imports the form of %s', async (_folder, { yaml, files, rows, losses }) => {
  const read = await readPromptfooFiles(yaml, files)
  expect(read.rows.map(({ parameters, checks, tags }) => [parameters, inShort(checks ?? [], tags)])).toEqual(rows)
  expect(read.losses).toEqual(losses)
})

function inShort(checks: readonly object[], tags: readonly string[] = []): string {
  const texts = checks.map((check) => {
    const { type, all, any, value, schema, max, caseSensitive } = check as Record<string, unknown>
    const texts = [any && 'any', [all, any].flat().filter(Boolean).join('|'), value, max, Object(schema)['required']]
    return [type === 'contains' && !caseSensitive ? 'icontains' : type, ...texts].filter(Boolean).join(' ')
  })
  return texts.join(', ') + tags.map((tag) => ` #${tag}`).join('')
}

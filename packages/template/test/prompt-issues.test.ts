import { describe, expect, it } from 'vitest'
import { type ConfigFault, readConfig } from '../src/front-matter/config.ts'
import { unknownModel } from '../src/front-matter/unknown-model.ts'
import { parseYaml } from '../src/front-matter/yaml.ts'
import { compilePrompt, renderStep, scan } from '../src/index.ts'
import { readings } from '../src/rendering/read-parameters.ts'
import { now, sourceOf } from './support.ts'

/** Each issue as `severity line:column message`. */
function issuesOf(content: string, documents = {}): string[] {
  return scan(sourceOf(content, documents)).issues.map(
    ({ severity, line, column, message }) => `${severity} ${line}:${column} ${message}`,
  )
}

function front(...lines: string[]): string {
  return ['---', ...lines, '---', 'Hello'].join('\n')
}

/** Why a run refuses the first step. */
function refusal(content: string): ConfigFault | undefined {
  const step = renderStep(compilePrompt(sourceOf(content)), { parameters: {}, now })
  const faults: ConfigFault[] = []
  readConfig(step.done ? {} : step.config, (fault) => faults.push(fault), [])
  return faults[0]
}

type Row = [lines: string[], position: string, message: string]

const settings: Row[] = [
  [['temperature: hot'], '2:1', '`temperature` must be a number'],
  [['model: m', 'temperature: [1]'], '3:1', '`temperature` must be a number'],
  [['temperature: .inf'], '2:1', '`temperature` must be a number'],
  [['# a comment', '', '  temperature: hot'], '4:3', '`temperature` must be a number'],
  [['"temperature": hot'], '2:1', '`temperature` must be a number'],
  [['{ model: m, temperature: hot }'], '2:13', '`temperature` must be a number'],
  [['description: "é😀"', 'temperature: hot'], '3:1', '`temperature` must be a number'],
  [['a: &hot hot', 'temperature: *hot'], '3:1', '`temperature` must be a number'],
  [['topP: yes'], '2:1', '`topP` must be a number'],
  [['top_p: high'], '2:1', '`top_p` must be a number'],
  [['topK: {}'], '2:1', '`topK` must be a number'],
  [['presencePenalty: low'], '2:1', '`presencePenalty` must be a number'],
  [['frequency_penalty: low'], '2:1', '`frequency_penalty` must be a number'],
  [['seed: true'], '2:1', '`seed` must be a number'],
  [['maxSteps: 151'], '2:1', '`maxSteps` must be a whole number from 1 to 150'],
  [['maxSteps: 0'], '2:1', '`maxSteps` must be a whole number from 1 to 150'],
  [['max_steps: many'], '2:1', '`max_steps` must be a whole number from 1 to 150'],
  [['maxRetries: 11'], '2:1', '`maxRetries` must be a whole number from 0 to 10'],
  [['maxRetries: -1'], '2:1', '`maxRetries` must be a whole number from 0 to 10'],
  [['maxTokens: 1.5'], '2:1', '`maxTokens` must be a whole number of at least 1'],
  [['max_output_tokens: 0'], '2:1', '`max_output_tokens` must be a whole number of at least 1'],
  [['model: 4'], '2:1', '`model` must be text'],
  [['model: ""'], '2:1', '`model` must be text'],
  [['provider: [openai]'], '2:1', '`provider` must be text'],
  [['name: 1'], '2:1', '`name` must be text'],
  [['description: {}'], '2:1', '`description` must be text'],
  [['stop: [1]'], '2:1', '`stop` must be text or a list of texts'],
  [['stopSequences: 1'], '2:1', '`stopSequences` must be text or a list of texts'],
  [['agents: one'], '2:1', '`agents` must be a list of texts'],
  [['agents:', '  - 1'], '2:1', '`agents` must be a list of texts'],
  [['type: robot'], '2:1', '`type` must be `prompt` or `agent`'],
  [['validate: maybe'], '2:1', '`validate` must be `true` or `false`'],
  [['parameters: [a]'], '2:1', '`parameters` must be a map'],
  [['schema: string'], '2:1', '`schema` must be a map'],
  [['thinkingConfig: 1'], '2:1', '`thinkingConfig` must be a map'],
  [['safety_settings: []'], '2:1', '`safety_settings` must be a map'],
  [['providerOptions: x'], '2:1', '`providerOptions` must be a map'],
  [['azure: []'], '2:1', '`azure` must be a map'],
  [['headers: x'], '2:1', '`headers` must be a map'],
  [['headers:', '  X-A: 1', '  Host: a'], '4:3', "The header 'Host' cannot be set by a prompt"],
  [['headers:', '  bad name: a'], '3:3', "The header 'bad name' is no header name"],
  [['headers:', '  X-A: "a\\nb"'], '3:3', "The header 'X-A' must be one line of text"],
  [['headers: { X-A: [1] }'], '2:12', "The header 'X-A' must be one line of text"],
  [['subagents: [a]'], '2:1', '`subagents` is not supported: list the documents under `agents`'],
  [['tools: 7'], '2:1', 'tools must be a map or a list'],
  [['tools:', '  bad name: {}'], '3:3', 'Tool names are 1 to 64 letters, digits, underscores and dashes'],
  [['tools:', '  a: text'], '3:3', "The tool 'a' must be defined by a map"],
  [['tools:', '  a: 5'], '3:3', "The tool 'a' must be defined by a map"],
  [['tools:', '  1: 5'], '3:3', "The tool '1' must be defined by a map"],
  [['tools:', '  a:', '    parameters: x'], '4:5', "The parameters of the tool 'a' must be a JSON Schema"],
  [['tools:', '  a: { parameters: [] }'], '3:8', "The parameters of the tool 'a' must be a JSON Schema"],
  [['tools:', '  a:', '    description: 1'], '4:5', "The description of the tool 'a' must be text"],
  [['tools:', '  - a: {}', '  - b: {}', '  - a: {}'], '5:5', "The tool 'a' is defined twice"],
  [['tools:', '  - [a]'], '3:5', 'An entry of tools must be a map of a name to its definition'],
  [['tools:', '  - a: { description: [] }'], '3:10', "The description of the tool 'a' must be text"],
  [['tools:', '  slack/post: {}'], '3:3', "Tool 'slack/post' is not available in stet"],
  [['tools:', '  openai: [{ type: web_search }]'], '3:3', "Tool 'openai' is not available in stet"],
  [['tools:', '  a: { handler: x }'], '3:3', "Tool 'a' is not available in stet"],
]

const steps: [content: string, position: string, message: string][] = [
  ['<step temperature="hot">a</step>', '1:7', '`temperature` must be a number'],
  ['<step maxSteps=151>a</step>', '1:7', '`maxSteps` must be a whole number from 1 to 150'],
  ['<step as="x" max_steps="0">a</step>', '1:14', '`max_steps` must be a whole number from 1 to 150'],
  ['<step temperature>a</step>', '1:7', '`temperature` must be a number'],
  ['<step type="robot">a</step>', '1:7', '`type` must be `prompt` or `agent`'],
  ['<step schema="x">a</step>', '1:7', '`schema` must be a map'],
  ['<step agents="x">a</step>', '1:7', '`agents` must be a list of texts'],
  ['<step validate="no">a</step>', '1:7', '`validate` must be `true` or `false`'],
  ['---\nmodel: m\n---\n{{ if true }}\n  <step topP="a">a</step>\n{{ endif }}', '5:9', '`topP` must be a number'],
]

const near: [written: string, known: string][] = [
  ['temprature', 'temperature'],
  ['temperatur', 'temperature'],
  ['Temperature', 'temperature'],
  ['max-tokens', 'maxTokens'],
  ['max_token', 'maxTokens'],
  ['MaxSteps', 'maxSteps'],
  ['schma', 'schema'],
  ['shcema', 'schema'],
  ['tool', 'tools'],
  ['agent', 'agents'],
  ['modle', 'model'],
  ['paramters', 'parameters'],
  ['stopSequence', 'stopSequences'],
  ['reasoning_efort', 'reasoningEffort'],
  ['validated', 'validate'],
]

describe('errors of a check', () => {
  it('cost no stack traces, however many faults the front matter has', () => {
    const limit = Error.stackTraceLimit
    const { errors } = parseYaml('a: "\\z"\n'.repeat(4_000))
    expect(errors.length).toBeGreaterThan(3_000)
    expect(errors.some(({ stack = '' }) => /^ +at /m.test(stack))).toBe(false)
    expect(Error.stackTraceLimit).toBe(limit)
  })

  it.each(settings)('%j is refused at %s: %s', (lines, position, message) => {
    expect(issuesOf(front(...lines))).toEqual([`error ${position} ${message}`])
    expect(refusal(front(...lines))?.message).toBe(message)
  })

  it.each(steps)('%s is refused at %s: %s', (content, position, message) => {
    expect(issuesOf(content)).toEqual([`error ${position} ${message}`])
    expect(refusal(content)?.message).toBe(message)
  })

  it('are listed with the errors of the text below the front matter', () => {
    const found = scan(sourceOf('---\ntemperature: hot\n---\n{{ x => 1 }}'))
    expect(found.errors).toHaveLength(1)
    expect(found.issues).toMatchObject([{ severity: 'error', code: 'invalid-setting', line: 2 }])
  })

  it('have a range and a frame', () => {
    expect(scan(sourceOf(front('temperature: hot'))).issues).toEqual([
      {
        severity: 'error',
        code: 'invalid-setting',
        message: '`temperature` must be a number',
        path: 'folder/prompt',
        line: 2,
        column: 1,
        endLine: 2,
        endColumn: 12,
        frame: '  1 | ---\n  2 | temperature: hot\n    | ^',
      },
    ])
  })

  it('of included prompts are not listed, because a run ignores their front matter', () => {
    expect(issuesOf('<prompt path="other" />', { 'folder/other': front('temperature: hot') })).toEqual([])
  })
})

describe('warnings of a check', () => {
  it.each(near)('%s is near %s', (written, known) => {
    const message = `Did you mean \`${known}\`? The provider gets \`${written}\` as it is; write it under \`providerOptions\` if it is meant`
    expect(issuesOf(front(`${written}: 1`))).toEqual([`warning 2:1 ${message}`])
  })

  it.each([
    'logit_bias',
    'service_tier',
    'toolChoice',
    'parallelToolCalls',
    'models',
    'top',
    'user',
    'thoughts',
    'schedule',
    'scheme',
    'reasoning',
    'stream',
    'verbosity',
  ])('%s is a setting of a provider', (key) => {
    expect(issuesOf(front(`${key}: 1`))).toEqual([])
  })

  it.each([
    ['<step temprature="1">a</step>', '1:7'],
    ['<step isolatd>a</step>', '1:7'],
  ])('%s', (content, position) => {
    expect(issuesOf(content)).toEqual([expect.stringContaining(`warning ${position} Did you mean`)])
  })

  it.each([
    [
      front('parameters:', '  a: { type: strng }'),
      'warning 3:8 `strng` is not a parameter type; its values stay unchanged',
    ],
    [front('parameters: { a: strng }'), 'warning 2:15 `strng` is not a parameter type; its values stay unchanged'],
    ['', 'warning 1:1 The prompt has no messages, so a run needs messages from its caller'],
    [
      '---\nmodel: m\n---\n/* later */\n',
      'warning 4:1 The prompt has no messages, so a run needs messages from its caller',
    ],
    ['<step></step>', 'warning 1:1 The prompt has no messages, so a run needs messages from its caller'],
  ])('%j', (content, issue) => {
    expect(issuesOf(content)).toEqual([issue])
  })

  it.each([
    [front('temperature: 2.5'), 'warning 2:1 `temperature` is usually from 0 to 2'],
    [front('model: m', 'top_p: -0.1'), 'warning 3:1 `top_p` is usually from 0 to 1'],
    [front('presencePenalty: 3'), 'warning 2:1 `presencePenalty` is usually from -2 to 2'],
    ['<step temperature="20">a</step>', 'warning 1:7 `temperature` is usually from 0 to 2'],
  ])('%j is no usual value', (content, issue) => {
    expect(issuesOf(content)).toEqual([issue])
    expect(refusal(content)).toBe(undefined)
  })

  it.each([
    front('temperature: 2', 'topP: 0', 'frequency_penalty: -2', 'seed: 99999', 'topK: 200'),
    front('parameters: { a: text, b: { type: integer }, c: {}, d: }'),
    '{{ text }}',
    '<user></user>',
    '{{ for x in list }}a{{ endfor }}',
    '<step temperature={{ warm }} model="{{ model }}" as="x" raw="y" isolated>a</step>',
    '<step temperature="0.5" maxSteps=3>a</step>',
    front('tools: [search, latitude/search]'),
    front('temperature:', 'temprature:'),
  ])('none for %j', (content) => {
    expect(issuesOf(content)).toEqual([])
  })

  it('none for the types of parameters that a run reads', () => {
    const types = Object.keys(readings).map((type) => `  ${type}: { type: ${JSON.stringify(type)} }`)
    expect(issuesOf(front('parameters:', ...types))).toEqual([])
  })

  it('never take the place of an error', () => {
    const errors = Array.from({ length: 25 }, (_, index) => `  bad name ${index}: {}`)
    const warnings = Array.from({ length: 25 }, (_, index) => `temprature${String.fromCharCode(97 + index)}: 1`)
    const issues = scan(sourceOf(front(...warnings, 'tools:', ...errors))).issues
    expect(issues.map(({ severity }) => severity)).toEqual(Array.from({ length: 20 }, () => 'error'))
    const [first, ...rest] = scan(sourceOf(front(...warnings, 'temperature: hot'))).issues
    expect(first).toMatchObject({ severity: 'error', line: 27 })
    expect(rest).toHaveLength(19)
  })
})

describe('a model that its provider is not known to have', () => {
  const issueOf = (content: string, near?: string) =>
    unknownModel({ path: 'a', content }, { model: 'm', provider: 'openai', near })

  it('is a warning at its key, and suggests a similar one', () => {
    expect(issueOf('---\r\n  provider: openai\r\n  "model": m\r\n---\r\n', 'n')).toMatchObject({
      severity: 'warning',
      code: 'unknown-model',
      message: '`m` is not in the list of models of openai. Did you mean `n`?',
      line: 3,
      column: 3,
      endColumn: 10,
    })
    expect(issueOf('---\n{ provider: openai, model: m }\n---\n')).toMatchObject({
      message: '`m` is not in the list of models of openai',
      line: 1,
      column: 1,
    })
  })

  it.each([
    ['a parameter', front('parameters:', '  model: text', 'model: m'), 4],
    ['a line of a text', front('description: |', '  model: n', 'model: m'), 4],
    ['a comment before', '/*\nmodel: n\n*/\n---\n# model: n\nmodel: m\n---\n', 6],
    ['the messages', '---\n{ model: m }\n---\nmodel: n', 1],
  ])('is not at %s', (_, content, line) => {
    expect(issueOf(content).line).toBe(line)
  })
})

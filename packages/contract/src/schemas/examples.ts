import { z } from 'zod'
import { absent, absentBut, JsonObject, Name, orRaw, Person, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { flag } from '../query-values.ts'
import { EXAMPLE_LIMITS, LIMITS } from '../vocabulary/limits.ts'
import { Check, Checks } from './checks.ts'
import { Message, MessageInput } from './messages.ts'
import { ConversationTag } from './runs.ts'

const maxPosition = 1_000_000

export const CannedResult = z
  .object({
    args: JsonObject.exactOptional().meta({
      description: 'Answers only calls whose arguments contain these values. If absent, any call.',
    }),
    result: z.unknown().meta({ description: 'What the model receives.' }),
    isError: z.boolean().exactOptional().meta({ description: 'The tool failed, and `result` says why.' }),
  })
  .meta({
    id: 'CannedResult',
    description: 'A stored result of a client tool.',
    example: "{ args: { id: 12 }, result: { status: 'sent' } }",
  })

const exampleName = Name.meta({ description: 'Unique within the prompt.' })
const parameters = JsonObject.meta({
  description: `Values by name. An example has at most ${EXAMPLE_LIMITS.bytes} bytes as JSON, with all its fields.`,
})
const messages = z.array(MessageInput).max(LIMITS.messages)
const toolResults = z
  .record(z.string(), z.array(CannedResult).min(1).max(EXAMPLE_LIMITS.toolResults))
  .refine((value) => Object.keys(value).length <= LIMITS.toolNames, {
    error: `must name at most ${LIMITS.toolNames} tools`,
  })
  .meta({
    description:
      'Results of client tools, by the name of the tool. A call takes the first unused entry whose `args` fit, and the ' +
      'last entry repeats.',
  })

/** The fields of a row beside its name, as requests change them. */
const changedFields = {
  parameters: parameters.exactOptional(),
  messages: messages.exactOptional().meta({ description: 'An empty list removes the messages.' }),
  expected: z.unknown().exactOptional().meta({
    description: 'The expected answer: a text, or any JSON. `null` removes it.',
  }),
  checks: Checks.exactOptional().meta({ description: 'Rules for the answer. An empty list removes them.' }),
  toolResults: toolResults.exactOptional(),
  tags: z.array(ConversationTag).max(EXAMPLE_LIMITS.tags).exactOptional().meta({
    description: 'A tag names a subset of the examples. In reports, an example with the tag `must` may not break.',
  }),
  position: z.int().min(0).max(maxPosition).exactOptional().meta({
    description: 'The place in lists. Default for a new example: after all others.',
  }),
}

const shownFields = {
  tags: z.array(z.string()),
  position: z
    .int()
    .meta({ description: 'The place in lists. Examples at the same place keep the order of their creation.' }),
  sourceRunUuid: Uuid.nullable().meta({ description: 'The run that it was saved from, if there is one.' }),
  author: Person.meta({ description: 'The author of the example.' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}

export const Example = z
  .object({
    uuid: Uuid,
    documentUuid: Uuid,
    name: z.string().meta({ description: 'Unique within the prompt.' }),
    parameters: JsonObject,
    messages: z.array(Message).meta({ description: "Messages that follow the prompt's own." }),
    expected: z.unknown().meta({ description: 'The expected answer: a text, or any JSON. `null` if there is none.' }),
    checks: z.array(Check),
    toolResults: z.record(z.string(), z.array(CannedResult)),
    ...shownFields,
  })
  .meta({
    id: 'Example',
    description: 'Saved inputs of a prompt, under a name, and what is expected of the answer.',
    example: "const { messages } = await stet.prompts.run('support/reply', { parameters: example.parameters })",
  })

export const ExampleSummary = z
  .object({
    uuid: Uuid,
    documentUuid: Uuid,
    name: z.string(),
    hasMessages: z.boolean(),
    hasExpected: z.boolean(),
    hasToolResults: z.boolean(),
    checkCount: z.int(),
    ...shownFields,
  })
  .meta({
    id: 'ExampleSummary',
    description: 'An example without its values.',
    example: 'const rows = await stet.examples.list(documentUuid, { summary: true })',
  })

export const ListedExample = z.union([Example, ExampleSummary]).meta({
  id: 'ListedExample',
  description: 'An example of a list: a summary if the query has `summary: true`.',
})

export const CreateExampleBody = absentBut(['expected'], {
  documentUuid: Uuid.meta({ description: 'The prompt that the example belongs to.' }),
  name: exampleName,
  ...changedFields,
  parameters,
}).meta({
  id: 'CreateExampleBody',
  example: "{ documentUuid, name: 'Angry customer', parameters: { ticket: 'Where is my order?' } }",
})

export const UpdateExampleBody = absentBut(['expected'], { name: exampleName.exactOptional(), ...changedFields }).meta({
  id: 'UpdateExampleBody',
  description: 'Changes an example. Absent fields stay unchanged.',
  example: "{ name: 'Angry customer', messages: [] }",
})

export const ExampleChange = absentBut(['expected'], { name: exampleName, ...changedFields }).meta({
  id: 'ExampleChange',
  description: 'Changes the example with this name, or adds it. Absent fields stay unchanged.',
  example: "{ name: 'Angry customer', expected: 'On its way.' }",
})

export const ChangeExamplesBody = absent({
  documentUuid: Uuid.meta({ description: 'The prompt that the examples belong to.' }),
  changes: z.array(ExampleChange).max(EXAMPLE_LIMITS.changes).meta({ description: 'Each name appears once.' }),
  delete: z
    .array(Uuid)
    .max(EXAMPLE_LIMITS.perPrompt)
    .exactOptional()
    .meta({ description: 'Uuids of examples to delete first. Unknown ones are ignored.' }),
}).meta({
  id: 'ChangeExamplesBody',
  example: "{ documentUuid, changes: [{ name: 'Angry customer', parameters: { ticket: 'Where is my order?' } }] }",
})

export const ChangedExamples = z
  .object({
    added: z.int(),
    modified: z.int(),
    unchanged: z.int().meta({ description: 'Changes that were already there.' }),
    deleted: z.int(),
  })
  .meta({ id: 'ChangedExamples', description: 'How many examples a batch changed.' })

export const SaveRunsBody = absent({
  runs: z.array(Uuid).min(1).max(EXAMPLE_LIMITS.runs).meta({ description: 'Uuids of ended runs.' }),
  expected: z.enum(['answer', 'none']).default('none').meta({
    description: '`answer` stores the answer of the run as the expected one. Edit it before you rely on it.',
  }),
}).meta({ id: 'SaveRunsBody', example: "{ runs: [uuid], expected: 'answer' }" })

export const SkippedRun = z
  .object({
    uuid: Uuid,
    reason: z.enum(['unknown-run', 'active', 'no-parameters', 'already-saved', 'too-large']).meta({
      description:
        '`no-parameters`: the run has no kept parameters. `already-saved`: the prompt has an example from this run.',
    }),
  })
  .meta({ id: 'SkippedRun', example: "{ uuid, reason: 'no-parameters' }" })

export const SavedRuns = z
  .object({ added: z.array(ExampleSummary), skipped: z.array(SkippedRun) })
  .meta({ id: 'SavedRuns' })

export const ListExamplesQuery = z
  .object({
    documentUuid: z.string().meta({ description: 'The prompt whose examples are listed.' }),
    summary: flag
      .exactOptional()
      .meta({ description: 'With `true`, examples come without their values. Default: `false`.' }),
  })
  .meta({ id: 'ListExamplesQuery' })

export const DeletedExample = z.object({ uuid: Uuid }).meta({ id: 'DeletedExample' })

const ExampleParams = ProjectParams.extend({
  exampleUuid: z.string().meta({ description: 'The uuid of the example.' }),
})

const limits =
  `A prompt has at most ${EXAMPLE_LIMITS.perPrompt} examples, with at most ${EXAMPLE_LIMITS.bytesPerPrompt} bytes in all ` +
  'their fields.'

export const exampleRoutes = {
  list: {
    summary: 'List the examples of a prompt',
    description: 'By position, then in the order in which they were created. Empty for an unknown prompt.',
    pathParams: ProjectParams,
    query: ListExamplesQuery,
    responses: withErrors({ 200: orRaw(z.array(ListedExample)) }),
  },
  create: {
    summary: 'Save an example',
    description: `Saves inputs of a prompt under a name. ${limits}`,
    pathParams: ProjectParams,
    body: CreateExampleBody,
    responses: withErrors({ 201: orRaw(Example) }),
  },
  batch: {
    summary: 'Add, change and delete examples',
    description:
      'All in one transaction. The name is the key: a change with a new name adds an example. Repeating a batch changes ' +
      `nothing. ${limits}`,
    pathParams: ProjectParams,
    body: ChangeExamplesBody,
    responses: withErrors({ 200: orRaw(ChangedExamples) }),
  },
  fromRuns: {
    summary: 'Save runs as examples',
    description:
      "An example takes the parameters of the run, the caller's messages, and the results of client tools that the run " +
      'received. Each belongs to the prompt of its run. Runs that cannot be saved are listed with the reason.',
    pathParams: ProjectParams,
    body: SaveRunsBody,
    responses: withErrors({ 200: orRaw(SavedRuns) }),
  },
  update: {
    summary: 'Change an example',
    description: 'Absent fields stay unchanged.',
    pathParams: ExampleParams,
    body: UpdateExampleBody,
    responses: withErrors({ 200: Example }),
  },
  delete: {
    summary: 'Delete an example',
    description: 'Returns its uuid.',
    pathParams: ExampleParams,
    responses: withErrors({ 200: DeletedExample }),
  },
}

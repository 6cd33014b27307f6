import { z } from 'zod'
import { absent, JsonObject, Name, orRaw, Person, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { EXAMPLE_LIMITS, LIMITS } from '../vocabulary/limits.ts'
import { Message, MessageInput } from './messages.ts'

const exampleName = Name.meta({ description: 'Unique within the prompt.' })
const parameters = JsonObject.meta({
  description: `Values by name. Parameters and messages have at most ${EXAMPLE_LIMITS.bytes} bytes together, as JSON.`,
})
const messages = z.array(MessageInput).max(LIMITS.messages)

export const Example = z
  .object({
    uuid: Uuid,
    documentUuid: Uuid,
    name: z.string().meta({ description: 'Unique within the prompt.' }),
    parameters: JsonObject,
    messages: z.array(Message).meta({ description: "Messages that follow the prompt's own." }),
    author: Person.meta({ description: 'The author of the example.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'Example',
    description: 'Saved inputs of a prompt, under a name.',
    example: "const { messages } = await stet.prompts.run('support/reply', { parameters: example.parameters })",
  })

export const CreateExampleBody = absent({
  documentUuid: Uuid.meta({ description: 'The prompt that the example belongs to.' }),
  name: exampleName,
  parameters,
  messages: messages.exactOptional(),
}).meta({
  id: 'CreateExampleBody',
  example: "{ documentUuid, name: 'Angry customer', parameters: { ticket: 'Where is my order?' } }",
})

export const UpdateExampleBody = absent({
  name: exampleName.exactOptional(),
  parameters: parameters.exactOptional(),
  messages: messages.exactOptional().meta({ description: 'An empty list removes the messages.' }),
}).meta({
  id: 'UpdateExampleBody',
  description: 'Changes an example. Absent fields stay unchanged.',
  example: "{ name: 'Angry customer', messages: [] }",
})

export const ListExamplesQuery = z
  .object({ documentUuid: z.string().meta({ description: 'The prompt whose examples are listed.' }) })
  .meta({ id: 'ListExamplesQuery' })

export const DeletedExample = z.object({ uuid: Uuid }).meta({ id: 'DeletedExample' })

const ExampleParams = ProjectParams.extend({
  exampleUuid: z.string().meta({ description: 'The uuid of the example.' }),
})

export const exampleRoutes = {
  list: {
    summary: 'List the examples of a prompt',
    description: 'In the order in which they were created. Empty for an unknown prompt.',
    pathParams: ProjectParams,
    query: ListExamplesQuery,
    responses: withErrors({ 200: orRaw(z.array(Example)) }),
  },
  create: {
    summary: 'Save an example',
    description:
      `Saves inputs of a prompt under a name. A prompt has at most ${EXAMPLE_LIMITS.perPrompt} examples, with at most ` +
      `${EXAMPLE_LIMITS.bytesPerPrompt} bytes of parameters and messages.`,
    pathParams: ProjectParams,
    body: CreateExampleBody,
    responses: withErrors({ 201: orRaw(Example) }),
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

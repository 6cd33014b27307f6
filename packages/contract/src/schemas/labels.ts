/** Labels of a conversation, given by people and applications: tags, a note, feedback. */
import { z } from 'zod'
import { absent, ConversationParams, orRaw, Person, Timestamp, text, Uuid, utf8Bytes } from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { ConversationTag } from './runs.ts'

const textOfBytes = (limit: number) =>
  z.string().refine((value) => utf8Bytes(value) <= limit, { error: `must have at most ${limit} bytes` })

export const ConversationNote = z
  .object({
    text: z.string(),
    author: Person.nullable().meta({ description: 'The author of the API key that wrote it.' }),
    at: Timestamp,
  })
  .meta({
    id: 'ConversationNote',
    description: 'A remark about a conversation, such as why its answer is wrong.',
    example: "const { note } = await stet.runs.get(uuid) // note?.text === 'Ignores the order number'",
  })

export const LabeledConversation = z
  .object({
    uuid: Uuid,
    tags: z.array(z.string()).meta({ description: 'In alphabetical order.' }),
    note: ConversationNote.nullable(),
  })
  .meta({
    id: 'LabeledConversation',
    description: 'The tags and the note of a conversation.',
    example: "const { tags, note } = await stet.conversations.update(uuid, { tags: ['wrong-tone'] })",
  })

export const UpdateConversationBody = absent({
  tags: z
    .array(ConversationTag)
    .max(LIMITS.tags)
    .exactOptional()
    .meta({ description: 'Replace all tags. An empty list removes them.' }),
  addTags: z
    .array(ConversationTag)
    .max(LIMITS.tags)
    .exactOptional()
    .meta({ description: `Added to the other tags. A conversation has at most ${LIMITS.tags}.` }),
  removeTags: z.array(ConversationTag).max(LIMITS.tags).exactOptional().meta({ description: 'Other tags stay.' }),
  note: textOfBytes(LIMITS.noteBytes)
    .exactOptional()
    .meta({ description: `At most ${LIMITS.noteBytes} bytes in UTF-8. \`""\` removes the note.` }),
}).meta({
  id: 'UpdateConversationBody',
  description: 'Labels a conversation. Absent fields stay unchanged.',
  example: "{ tags: ['wrong-tone'], note: 'Ignores the order number' }",
})

export const TagUse = z
  .object({
    tag: z.string(),
    conversations: z.int().positive().meta({ description: 'How many conversations have it.' }),
    lastAt: Timestamp.meta({ description: 'The start of the newest of these conversations.' }),
  })
  .meta({ id: 'TagUse', example: "{ tag: 'wrong-tone', conversations: 12, lastAt: '2026-01-02T03:04:05.678Z' }" })

export const FeedbackValue = z
  .enum(['up', 'down'])
  .meta({ description: "`up` or `down`: the user's thumb for a conversation." })

export const FeedbackBody = absent({
  value: FeedbackValue,
  comment: textOfBytes(LIMITS.commentBytes)
    .exactOptional()
    .meta({ description: `The user's words, at most ${LIMITS.commentBytes} bytes in UTF-8.` }),
  by: text({ min: 1, max: LIMITS.customIdentifierLength }).exactOptional().meta({
    description: "Your own id of the user. Feedback with the same id replaces the user's earlier one.",
  }),
}).meta({ id: 'FeedbackBody', example: "{ value: 'down', comment: 'Wrong order number', by: 'user-7' }" })

export const Feedback = z
  .object({ value: FeedbackValue, comment: z.string().nullable(), createdAt: Timestamp })
  .meta({ id: 'Feedback', description: "A user's verdict on a conversation." })

export const labelRoutes = {
  update: {
    summary: 'Label a conversation',
    description:
      'Sets the tags and the note of a conversation. Tags find conversations in the list of runs. Tags that begin with ' +
      '`feedback:` are reserved; feedback sets them.',
    pathParams: ConversationParams,
    body: UpdateConversationBody,
    responses: withErrors({ 200: orRaw(LabeledConversation) }),
  },
  feedback: {
    summary: 'Record feedback',
    description:
      "Records the verdict of your application's user. The newest feedback counts. It is an annotation of the " +
      "project's evaluation `Feedback`, which the first feedback creates.",
    pathParams: ConversationParams,
    body: FeedbackBody,
    responses: withErrors({ 200: orRaw(Feedback) }),
  },
}

import { z } from 'zod'
import {
  absent,
  ConversationParams,
  Id,
  JsonObject,
  Name,
  nullsAbsent,
  orRaw,
  Timestamp,
  text,
  Uuid,
  utf8Bytes,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'

export const EvaluationMetric = z
  .enum(['binary', 'rating'])
  .meta({ description: 'A `binary` score is 0 or 1. A `rating` is a number in a range.' })

const description = text({ max: LIMITS.descriptionLength })
const rating = z.number().min(-LIMITS.rating).max(LIMITS.rating)

export const EvaluationConfiguration = absent({
  reverseScale: z.boolean().exactOptional().meta({ description: 'If true, low scores are good. Default: false.' }),
  criteria: description.exactOptional().meta({ description: 'Instructions for the people who judge.' }),
  passDescription: description.exactOptional().meta({ description: 'When a conversation passes.' }),
  failDescription: description.exactOptional().meta({ description: 'When a conversation fails.' }),
  minRating: rating.exactOptional().meta({ description: 'Default: 1.' }),
  maxRating: rating.exactOptional().meta({ description: 'Must be greater than `minRating`. Default: 5.' }),
  minThreshold: rating.exactOptional().meta({ description: 'The lowest score that passes. Default: `minRating`.' }),
  maxThreshold: rating.exactOptional().meta({ description: 'The highest score that passes. Default: `maxRating`.' }),
}).meta({
  id: 'EvaluationConfiguration',
  description: 'Defines how scores are interpreted. Ratings and thresholds apply only to the metric `rating`.',
  example: '{ reverseScale: false, minRating: 1, maxRating: 5, minThreshold: 4 }',
})

export const CreateEvaluationBody = absent({
  projectId: Id,
  documentUuid: Uuid.exactOptional().meta({ description: 'If absent, every prompt of the project.' }),
  name: Name,
  description: description.exactOptional(),
  metric: EvaluationMetric,
  configuration: EvaluationConfiguration.exactOptional(),
}).meta({
  id: 'CreateEvaluationBody',
  example: "{ projectId: 1, name: 'Helpful', metric: 'rating', configuration: { minThreshold: 4 } }",
})

export const Evaluation = z
  .object({
    uuid: Uuid,
    projectId: Id,
    documentUuid: Uuid.nullable().meta({ description: '`null` means every prompt of the project.' }),
    name: z.string(),
    description: z.string().nullable(),
    type: z.literal('human'),
    metric: EvaluationMetric,
    configuration: JsonObject.meta({ description: 'The given configuration with all defaults.' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Evaluation' })

export const ListEvaluationsQuery = z
  .object({ projectId: z.string().exactOptional(), documentUuid: z.string().exactOptional() })
  .meta({ id: 'ListEvaluationsQuery' })

export const AnnotateBody = nullsAbsent(
  z
    .object({
      score: z.number().meta({ description: 'Binary: 0 or 1. Rating: in the range of the evaluation.' }),
      versionUuid: z.string().exactOptional().meta({
        description: 'The judged version, or `live`. Default: the version that the conversation ran on.',
      }),
      metadata: JsonObject.refine(({ reason }) => reason === undefined || reason === null || isText(reason), {
        path: ['reason'],
        error: 'must be a string',
      })
        .default({})
        .meta({ description: 'Stored with the annotation. `reason` is a text.' }),
      context: JsonObject.exactOptional().meta({ description: 'Stored in `metadata`.' }),
    })
    .refine(({ metadata, context }) => utf8Bytes(JSON.stringify({ ...metadata, context })) <= LIMITS.metadataBytes, {
      path: ['metadata'],
      error: `must have at most ${LIMITS.metadataBytes} bytes as JSON`,
    }),
).meta({ id: 'AnnotateBody', example: "{ score: 4, metadata: { reason: 'Polite, and it answers the question' } }" })

export const Annotation = z
  .object({
    uuid: Uuid,
    score: z.number().meta({ description: 'The score as sent.' }),
    normalizedScore: z.int().min(0).max(100).meta({ description: '100 is best on every scale.' }),
    metadata: JsonObject,
    hasPassed: z.boolean(),
    error: z.string().nullable().meta({ description: 'Always `null` for scores by people.' }),
    versionUuid: Uuid,
    conversationUuid: Uuid,
    evaluationUuid: Uuid,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Annotation' })

const evaluationUuid = z.string().meta({ description: 'The uuid of the evaluation.' })

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

export const evaluationRoutes = {
  create: {
    summary: 'Create an evaluation',
    description: 'Creates a scale for scores. 400 if its range is empty, or if a threshold is outside it.',
    body: CreateEvaluationBody,
    responses: withErrors({ 201: orRaw(Evaluation) }),
  },
  list: {
    summary: 'List evaluations',
    description: 'Newest first.',
    query: ListEvaluationsQuery,
    responses: withErrors({ 200: orRaw(z.array(Evaluation)) }),
  },
  get: {
    summary: 'Get an evaluation',
    description: 'Takes the uuid of the evaluation.',
    pathParams: z.object({ evaluationUuid }),
    responses: withErrors({ 200: Evaluation }),
  },
  annotate: {
    summary: 'Annotate a conversation',
    description:
      'Gives a conversation a score. Each call creates an annotation, and the newest one counts. 422 for a score out of range, ' +
      'and for the evaluation `Feedback`, which is for feedback only.',
    pathParams: ConversationParams.extend({ evaluationUuid }),
    body: AnnotateBody,
    responses: withErrors({ 201: orRaw(Annotation) }),
  },
  annotations: {
    summary: 'List the annotations of a conversation',
    description: 'Newest first.',
    pathParams: ConversationParams,
    responses: withErrors({ 200: orRaw(z.array(Annotation)) }),
  },
}

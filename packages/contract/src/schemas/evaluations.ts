import { z } from 'zod'
import {
  absent,
  ConversationParams,
  Id,
  JsonObject,
  Name,
  nullsAbsent,
  orRaw,
  Person,
  Timestamp,
  text,
  Uuid,
  utf8Bytes,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { flag } from '../query-values.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { Check, Checks } from './checks.ts'

export const EvaluationMetric = z
  .enum(['binary', 'rating'])
  .meta({ description: 'A `binary` score is 0 or 1. A `rating` is a number in a range.' })

export const EvaluationType = z.enum(['human', 'rule', 'judge', 'code']).meta({
  description:
    '`human`: people score. `rule`: a list of checks scores. `judge`: a prompt scores. `code`: your code scores, and you ' +
    'send the results. For every type, people can score conversations too, and their scores count instead.',
})

export const BuiltIn = z.enum(['feedback', 'checks']).meta({
  description: "The evaluations that stet creates: the feedback of your application's users, and the checks of rows.",
})

export const AnnotationSource = z.enum(['person', 'user', 'rule', 'judge', 'code']).meta({
  description: '`user` for the feedback of a user of your application.',
})

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

export const CreateEvaluationBody = nullsAbsent(
  z
    .object({
      projectId: Id,
      documentUuid: Uuid.exactOptional().meta({ description: 'If absent, every prompt of the project.' }),
      name: Name,
      description: description.exactOptional(),
      type: EvaluationType.default('human'),
      metric: EvaluationMetric.default('binary'),
      configuration: EvaluationConfiguration.exactOptional(),
      checks: Checks.min(1).exactOptional().meta({ description: 'Of a `rule`: an answer passes if all of them pass.' }),
      judge: z
        .string()
        .exactOptional()
        .meta({
          description:
            'Of a `judge`: the path or the uuid of the prompt that judges. Its `schema` has `passed`, a boolean, and ' +
            '`reason`, a text.',
        }),
    })
    .superRefine((body, context) => {
      const refuse = (key: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [key], message: message })
      const { type, metric, configuration, checks, judge } = body
      if ((checks !== undefined) !== (type === 'rule')) refuse('checks', 'belongs to the type `rule`, which needs it')
      if ((judge !== undefined) !== (type === 'judge')) refuse('judge', 'belongs to the type `judge`, which needs it')
      if (type === 'human') return
      if (metric !== 'binary') refuse('metric', `must be binary for the type \`${type}\``)
      if (configuration?.reverseScale) refuse('configuration', 'cannot reverse the scale of this type')
    }),
).meta({
  id: 'CreateEvaluationBody',
  description: 'The type and the configuration of an evaluation never change. A new rule is a new evaluation.',
  example:
    "{ projectId: 1, name: 'Mentions the refund', type: 'rule', checks: [{ type: 'contains', any: ['refund'] }] }",
})

export const Evaluation = z
  .object({
    uuid: Uuid,
    projectId: Id,
    documentUuid: Uuid.nullable().meta({ description: '`null` means every prompt of the project.' }),
    name: z.string(),
    description: z.string().nullable(),
    type: EvaluationType,
    builtIn: BuiltIn.nullable(),
    metric: EvaluationMetric,
    configuration: JsonObject.meta({ description: 'The given configuration with all defaults.' }),
    checks: z.array(Check).nullable().meta({ description: 'Of a `rule`.' }),
    judgeDocumentUuid: Uuid.nullable().meta({ description: 'The prompt of a `judge`.' }),
    archivedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Evaluation' })

export const ListEvaluationsQuery = z
  .object({
    projectId: z.string().exactOptional(),
    documentUuid: z.string().exactOptional().meta({ description: 'Only the evaluations of this prompt.' }),
    archived: flag.exactOptional().meta({ description: 'Also archived ones. Default: false.' }),
  })
  .meta({ id: 'ListEvaluationsQuery' })

export const UpdateEvaluationBody = absent({
  archived: z.boolean().exactOptional().meta({ description: 'Archived evaluations are not used by new experiments.' }),
}).meta({ id: 'UpdateEvaluationBody', description: 'Absent fields stay unchanged.', example: '{ archived: true }' })

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

export const RemovedLabel = z
  .object({ deleted: z.int().min(0).meta({ description: 'The number of your labels that were deleted.' }) })
  .meta({ id: 'RemovedLabel' })

const ofScored = (description: string) => ({ description: `${description} \`null\` if unscored.` })

export const ListedAnnotation = Annotation.extend({
  score: z.number().nullable().meta(ofScored('The score as sent.')),
  normalizedScore: z.int().min(0).max(100).nullable().meta(ofScored('100 is best on every scale.')),
  hasPassed: z.boolean().nullable().meta(ofScored('')),
  error: z.string().nullable().meta({ description: 'Why an answer is unscored. Otherwise `null`.' }),
  state: z.enum(['scored', 'unscored']).meta({ description: 'Unscored is neither a pass nor a fail.' }),
  source: AnnotationSource,
  author: Person.nullable().meta({ description: 'Of an automatic score, who started the run.' }),
  judgeConversationUuid: Uuid.nullable().meta({ description: "The conversation of the judge's run." }),
}).meta({ id: 'ListedAnnotation', description: 'A score of a conversation, by a person or an automatic one.' })

export const ListAnnotationsQuery = z
  .object({
    states: z.enum(['scored', 'all']).exactOptional().meta({
      description: '`all` also lists unscored ones, whose scores are `null`. Default: `scored`.',
    }),
  })
  .meta({ id: 'ListAnnotationsQuery' })

const evaluationUuid = z.string().meta({ description: 'The uuid of the evaluation.' })

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

export const evaluationRoutes = {
  create: {
    summary: 'Create an evaluation',
    description:
      'Creates a scale for scores. 400 if its range is empty, or if a threshold is outside it. 422 for a judge whose prompt ' +
      'does not answer with `passed` and `reason`, or has client tools.',
    body: CreateEvaluationBody,
    responses: withErrors({ 201: orRaw(Evaluation) }),
  },
  list: {
    summary: 'List evaluations',
    description: `Newest first. A project has at most ${LIMITS.evaluations.toLocaleString('en-US')}.`,
    query: ListEvaluationsQuery,
    responses: withErrors({ 200: orRaw(z.array(Evaluation)) }),
  },
  update: {
    summary: 'Archive an evaluation',
    description: 'Archives an evaluation, or takes it back into use. Its scores stay.',
    pathParams: z.object({ evaluationUuid }),
    body: UpdateEvaluationBody,
    responses: withErrors({ 200: Evaluation }),
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
      'Gives a conversation a score. Each call creates an annotation, and the newest one counts, also before automatic ' +
      'scores. 422 for a score out of range, ' +
      'and for the evaluation `Feedback`, which is for feedback only.',
    pathParams: ConversationParams.extend({ evaluationUuid }),
    body: AnnotateBody,
    responses: withErrors({ 201: orRaw(Annotation) }),
  },
  removeLabel: {
    summary: 'Remove your label',
    description:
      'Deletes the annotations of this evaluation that you gave the conversation. The newest one of another person counts ' +
      'then, otherwise the newest automatic score. Repeating it deletes nothing more. Feedback stays.',
    pathParams: ConversationParams.extend({ evaluationUuid }),
    responses: withErrors({ 200: RemovedLabel }),
  },
  annotations: {
    summary: 'List the annotations of a conversation',
    description:
      "Newest first. Of each evaluation, a person's newest score counts, otherwise the newest automatic one.",
    pathParams: ConversationParams,
    query: ListAnnotationsQuery,
    responses: withErrors({ 200: orRaw(z.array(ListedAnnotation)) }),
  },
}

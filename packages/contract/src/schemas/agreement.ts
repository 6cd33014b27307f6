import { z } from 'zod'
import { Person, ProjectParams, Timestamp, Uuid } from '../common.ts'
import { withErrors } from '../errors.ts'
import { instant, pageSize } from '../query-values.ts'
import { ConversationSummary } from './conversations.ts'

const share = z.number().min(0).max(1)
const count = z.int().nonnegative()

export const AgreementRate = z
  .object({
    labeled: count.meta({ description: 'The answers that people labeled so and that the judge has judged.' }),
    agreed: count.meta({ description: 'Those of which the judge says the same.' }),
    rate: share.nullable().meta({ description: '`null` without labels.' }),
    low: share.meta({ description: "The lower end of Wilson's 95 % interval." }),
    high: share.meta({ description: 'The upper end.' }),
  })
  .meta({ id: 'AgreementRate', example: '{ labeled: 10, agreed: 9, rate: 0.9, low: 0.596, high: 0.982 }' })

export const Disagreement = z
  .object({
    conversationUuid: Uuid,
    label: z.object({
      hasPassed: z.boolean(),
      reason: z.string().nullable(),
      author: Person.nullable(),
      createdAt: Timestamp,
    }),
    verdict: z.object({ hasPassed: z.boolean(), reason: z.string().nullable() }),
  })
  .meta({ id: 'Disagreement', description: 'An answer on which a person and the judge differ.' })

export const Agreement = z
  .object({
    evaluationUuid: Uuid,
    judge: z.string().nullable().meta({
      description: 'The fingerprint of the judge whose verdicts are compared; `null` if its prompt was deleted.',
    }),
    truePass: AgreementRate.meta({ description: 'Of the answers that people passed, those that the judge passes.' }),
    trueFail: AgreementRate.meta({ description: 'Of the answers that people failed, those that the judge fails.' }),
    isShown: z.boolean().meta({
      description:
        'Whether the judge is shown to agree: at least 10 answers labeled as passes, 10 as fails, and both rates at least ' +
        '0.8. Otherwise the judge informs and never decides about a publication.',
    }),
    beforeEdit: count.meta({
      description:
        "Labels from before the judge's last edit. They do not count, because they may have helped to write it.",
    }),
    disagreements: z.array(Disagreement).meta({ description: 'At most 100, newest label first.' }),
  })
  .meta({
    id: 'Agreement',
    description: 'How often a judge agrees with people, over the answers that both have judged.',
    example: 'const { truePass, trueFail, isShown } = await stet.evaluations.agreement(evaluationUuid)',
  })

export const AgreementQuery = z
  .object({
    judge: z.string().max(128).exactOptional().meta({
      description: 'The fingerprint of an earlier text of the judge. Default: the one that it has now.',
    }),
  })
  .meta({ id: 'AgreementQuery' })

export const QueueQuery = z
  .object({
    evaluation: z.string().meta({ description: 'The uuid of the evaluation to label for.' }),
    tag: z.string().exactOptional().meta({
      description: 'Only conversations with this tag. `feedback:down` has those with a thumbs down.',
    }),
    from: instant.exactOptional().meta({ description: 'Only conversations created at this instant or later.' }),
    limit: pageSize.exactOptional().meta({ description: 'Default: 20.' }),
    cursor: z.string().exactOptional().meta({ description: 'The `nextCursor` of the previous page.' }),
  })
  .meta({ id: 'QueueQuery' })

export const QueueItem = ConversationSummary.pick({
  uuid: true,
  documentUuid: true,
  versionUuid: true,
  path: true,
  status: true,
  origin: true,
  via: true,
  createdAt: true,
}).meta({ id: 'QueueItem', description: 'An ended conversation without a label by a person.' })

export const QueuePage = z
  .object({
    items: z.array(QueueItem),
    nextCursor: z.string().nullable().meta({
      description:
        'Opaque; `null` on the last page. A page may have fewer items than `limit`, even none, before the last.',
    }),
  })
  .meta({ id: 'QueuePage', example: 'const { items, nextCursor } = await stet.evaluations.queue(evaluationUuid)' })

export const agreementRoutes = {
  agreement: {
    summary: 'Compare a judge with people',
    description:
      'Compares the verdicts of a judge with the labels that people gave on the same evaluation. 422 for other types.',
    pathParams: z.object({ evaluationUuid: z.string().meta({ description: 'The uuid of the evaluation.' }) }),
    query: AgreementQuery,
    responses: withErrors({ 200: Agreement }),
  },
  queue: {
    summary: 'List conversations to label',
    description:
      'Ended conversations of the prompt of an evaluation, or of the project, that no person has labeled for the ' +
      'evaluation. Newest first. The runs of judges are left out.',
    pathParams: ProjectParams,
    query: QueueQuery,
    responses: withErrors({ 200: QueuePage }),
  },
}

/** The right and the wrong of a person as a score. */
import type { Evaluation } from '@stet/sdk'
import { queryOptions } from '@tanstack/react-query'
import { stet } from '../app/session.ts'

export function evaluationQuery(uuid: string) {
  return queryOptions({
    queryKey: ['evaluation', uuid],
    queryFn: ({ signal }) => stet.evaluations.get(uuid, { signal }),
  })
}

/**
 * Labels an answer right or wrong. If the scale is reversed, 0 is right.
 *
 * @param passed null removes one's own labels, so that another person's label or the automatic score counts again
 */
export async function sendLabel(
  { uuid, configuration }: Pick<Evaluation, 'uuid' | 'configuration'>,
  conversationUuid: string,
  passed: boolean | null,
): Promise<void> {
  if (passed !== null) {
    const score = passed === (configuration.reverseScale ?? false) ? 0 : 1
    await stet.evaluations.annotate(conversationUuid, score, uuid)
  } else {
    const { deleted } = await stet.evaluations.removeLabel(conversationUuid, uuid)
    if (deleted === 0) throw new Error('You have not labeled this answer. Its label is by another person.')
  }
}

/** Why an evaluation takes no right and wrong. */
export function noLabelReason({ metric }: Pick<Evaluation, 'metric'>): string | false {
  return metric === 'rating' && 'this evaluation takes ratings, by the API'
}

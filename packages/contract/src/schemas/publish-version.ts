import { z } from 'zod'
import { moveOptions, nameText, nullsAbsent, text } from '../common.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { ReleaseCheck } from './environments.ts'

const publishShape = {
  title: nameText({ max: LIMITS.nameLength })
    .exactOptional()
    .meta({ description: 'If absent or empty, the title does not change.' }),
  description: text({ max: LIMITS.descriptionLength }).exactOptional().meta({ description: '`""` clears the notes.' }),
  force: z.boolean().default(false).meta({
    description: "Publishes even if live has changed the same prompts. The draft's texts overwrite those of live.",
  }),
  merge: z
    .boolean()
    .default(false)
    .meta({
      description:
        'If live has changed the same prompts, merges the texts by line and publishes the result. 409 only if the changes ' +
        'overlap.',
    }),
  block: z
    .array(ReleaseCheck)
    .exactOptional()
    .meta({ description: 'The checks that refuse the release. Default: none.' }),
  override: z
    .array(z.enum(['gate']))
    .exactOptional()
    .meta({
      description:
        '`gate` publishes despite failing gates. Needs the key scope `admin` and a `reason`. The release keeps both, and the ' +
        'verdicts.',
    }),
  ...moveOptions,
}

export const PublishVersionBody = nullsAbsent(
  z.object(publishShape).refine(({ override, reason }) => !override?.length || reason, {
    path: ['reason'],
    error: 'is required with `override`',
  }),
).meta({ id: 'PublishVersionBody', example: "{ title: 'Friendlier tone', description: 'Replies greet by name.' }" })

/** The import of a version's history from another installation. */
import { z } from 'zod'
import { absent, DocumentPath, Name, nameText, nullsAbsent, PromptText, Timestamp, text, Uuid } from '../common.ts'
import { LIMITS } from '../vocabulary/limits.ts'

const ImportedTime = Timestamp.meta({ description: 'A UTC time with milliseconds.' })

const importedAuthor = { authorName: Name, authorEmail: nameText({ max: LIMITS.nameLength }).exactOptional() }

export const ImportedRevision = absent({
  path: DocumentPath,
  prompt: PromptText.meta({ description: 'The text after the edit. A forced edit never deletes a prompt.' }),
  ...importedAuthor,
  createdAt: ImportedTime,
}).meta({ id: 'ImportedRevision', description: 'A forced edit of a version of another project.' })

const importVersionShape = {
  uuid: Uuid.exactOptional().meta({
    description:
      "Replaces the draft's uuid, so that programs that refer to the version keep working. Default: the draft's uuid.",
  }),
  title: Name,
  description: text({ max: LIMITS.descriptionLength }).exactOptional(),
  ...importedAuthor,
  createdAt: ImportedTime,
  mergedAt: ImportedTime.exactOptional().meta({ description: 'If absent, the version stays a draft.' }),
  baseVersionUuid: Uuid.exactOptional().meta({
    description: 'The published version that this one changed. Default: what is live.',
  }),
  baseRevision: z.int().min(0).max(999_999_999).exactOptional().meta({
    description: 'The revision of `baseVersionUuid`, which may follow by a later import. Default: 0.',
  }),
  revisions: z
    .array(ImportedRevision)
    .max(LIMITS.importedRevisions)
    .exactOptional()
    .meta({
      description:
        'Forced edits, oldest first. Needs `mergedAt`. A published version accepts only these, and keeps its names, times ' +
        'and base. A text that the version already has makes no revision.',
    }),
}

export const ImportVersionBody = nullsAbsent(
  z.object(importVersionShape).superRefine(({ revisions, mergedAt }, context) => {
    if (revisions !== undefined && mergedAt === undefined)
      context.addIssue({ code: 'custom', path: ['revisions'], message: 'needs mergedAt' })
  }),
).meta({
  id: 'ImportVersionBody',
  description:
    'The history of a version of another project. With `mergedAt` the draft becomes live, otherwise it stays a draft. ' +
    '`revisions` repeats the forced edits of a published version.',
  example:
    "{ title: 'Friendlier tone', authorName: 'Ada', createdAt: '2026-01-02T03:04:05.678Z', mergedAt: '2026-01-03T08:30:00.000Z' }",
})

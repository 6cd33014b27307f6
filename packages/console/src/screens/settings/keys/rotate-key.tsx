import type { ApiKeyInfo } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../../app/failure.tsx'
import { signIn, stet, useSession } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { ChoiceField } from '../../../ui/field.tsx'
import { SecretDialog } from '../parts.tsx'
import { keysQuery } from '../queries.ts'

/** In seconds. */
const overlaps = [
  ['0', 'stops at once'],
  ['3600', 'works for one more hour'],
  ['86400', 'works for one more day'],
  ['604800', 'works for 7 more days'],
] as const

/** Replaces the secret of a key. The old one may work for a while, until every application has the new one. */
export function RotateDialog({ apiKey, onClose }: { apiKey: ApiKeyInfo; onClose: () => void }) {
  const queries = useQueryClient()
  const session = useSession()
  const [overlap, setOverlap] = useState<(typeof overlaps)[number][0]>('3600')
  const rotate = useMutation({
    mutationFn: async () => {
      const rotated = await stet.apiKeys.rotate(apiKey.id, { overlapSeconds: Number(overlap) })
      // The session ends with the old secret, and its sheet would cover the new one.
      if (apiKey.id === session.apiKey.id) await signIn({ apiKey: rotated.key }).catch(() => undefined)
      return rotated
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  })
  if (rotate.data) return <SecretDialog name={rotate.data.name} secret={rotate.data.key} onClose={onClose} />
  return (
    <FormDialog
      title={`Rotate “${apiKey.name}”`}
      text="The key gets a new secret with the same rights."
      submit="Rotate"
      busy={rotate.isPending}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <ChoiceField label="The old secret" value={overlap} choices={overlaps} onChange={setOverlap} />
      {rotate.error && <Failure what="The key was not rotated" error={rotate.error} />}
    </FormDialog>
  )
}

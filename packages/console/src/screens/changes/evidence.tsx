import type { Run, Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { stet } from '../../app/session.ts'
import { counted } from '../../ui/time.tsx'
import { evidenceText } from './evidence-text.ts'

interface EvidenceProps {
  projectId: number
  draft: Version
  documentUuid: string
}

/** The runs of the draft that tried a prompt: an approver sees whether it ran at all. */
export function Evidence({ projectId, draft, documentUuid }: EvidenceProps) {
  const filter = { documentUuid, versionUuid: draft.uuid }
  const { data } = useQuery({
    queryKey: ['project', projectId, 'evidence', draft.uuid, documentUuid],
    // No run is older than its draft, so the search ends there.
    queryFn: ({ signal }) =>
      stet.runs.list({ ...filter, projectId, from: draft.createdAt, limit: 100, signal }).then(summarize),
    refetchInterval: 30_000,
  })
  if (!data) return null
  if (data.runs.length === 0) return <p className="faint">No run of this draft yet, apart from experiments</p>
  return (
    <p className="faint">
      <Link to="/p/$project/runs" params={{ project: String(projectId) }} search={filter}>
        {data.hasMore ? `At least ${data.runs.length} runs` : counted(data.runs.length, 'run')}
      </Link>{' '}
      {evidenceText(data.runs)}
    </p>
  )
}

const summarize = ({ items, nextCursor }: { items: readonly Run[]; nextCursor: string | null }) => ({
  runs: items,
  hasMore: nextCursor !== null,
})

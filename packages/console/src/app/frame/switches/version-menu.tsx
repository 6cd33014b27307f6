import type { Version } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Trigger } from '../../../ui/deferred.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Live } from '../../../ui/mark.tsx'
import { Menu, MenuGroup, MenuItem, MenuLink, MenuSeparator } from '../../../ui/menu.tsx'
import { counted } from '../../../ui/time.tsx'
import { versionsQuery } from '../../queries.ts'
import { useBlocked, useSession } from '../../session.ts'
import { openOverlay } from '../overlays.tsx'

interface VersionMenuProps {
  trigger: Trigger
  projectId: number
  /** `live` or a uuid. */
  version: string
}

/** A longer list has a filter. */
const mostDrafts = 7

/** Live, the drafts with changes, and on request the drafts without. */
export default function VersionMenu({ trigger, projectId, version }: VersionMenuProps) {
  const { data = [] } = useQuery(versionsQuery(projectId))
  const { author } = useSession().apiKey
  const needsWrite = useBlocked('write')
  const [showsUnchanged, setShowsUnchanged] = useState(false)
  const live = data.find(({ isLive }) => isLive)
  const older = data.find(({ uuid, isLive, status }) => uuid === version && !isLive && status === 'merged')
  const drafts = data.filter(({ status }) => status === 'draft')
  const isShown = (draft: Version) => showsUnchanged || draft.changeCount > 0 || draft.uuid === version
  const hidden = drafts.filter((draft) => !isShown(draft)).length
  const groups = [
    { label: 'Your drafts', drafts: drafts.filter((draft) => isShown(draft) && draft.authorId === author.id) },
    { label: 'Drafts of others', drafts: drafts.filter((draft) => isShown(draft) && draft.authorId !== author.id) },
  ]
  return (
    <Menu trigger={trigger}>
      <VersionLink to="live" isOpen={version === 'live'} note={live ? live.title : 'nothing is live yet'}>
        <Live>Live</Live>
        {live && ` v${live.version}`}
      </VersionLink>
      {older && (
        <VersionLink to={older.uuid} isOpen note={older.title}>
          v{older.version}
        </VersionLink>
      )}
      {drafts.length > mostDrafts && <MenuItem onSelect={() => openOverlay('find-version')}>Find a version…</MenuItem>}
      {groups.map(
        ({ label, drafts }) =>
          drafts.length > 0 && (
            <MenuGroup key={label} label={label}>
              {drafts.map((draft) => (
                <VersionLink
                  key={draft.uuid}
                  to={draft.uuid}
                  isOpen={draft.uuid === version}
                  note={noteOf(draft, author.id)}
                >
                  {draft.title}
                </VersionLink>
              ))}
            </MenuGroup>
          ),
      )}
      <MenuSeparator />
      {hidden > 0 && (
        <MenuItem staysOpen onSelect={() => setShowsUnchanged(true)}>
          Show {counted(hidden, 'draft')} without changes
        </MenuItem>
      )}
      <MenuItem blocked={needsWrite} onSelect={() => openOverlay('new-draft')}>
        New draft…
      </MenuItem>
      {drafts.some(({ uuid }) => uuid === version) && (
        <>
          <MenuItem blocked={needsWrite} onSelect={() => openOverlay('rename-draft')}>
            Name and notes…
          </MenuItem>
          <MenuItem danger blocked={needsWrite} onSelect={() => openOverlay('delete-draft')}>
            Delete draft…
          </MenuItem>
        </>
      )}
    </Menu>
  )
}

/** "Ana, 2 changes" */
function noteOf(draft: Version, ownId: number): string {
  const changes = counted(draft.changeCount, 'change')
  return draft.authorId === ownId ? changes : `${draft.authorName}, ${changes}`
}

/** Leads to the same prompt in another version, or to its prompts. */
function VersionLink({
  to,
  isOpen,
  note,
  children,
}: {
  to: string
  isOpen: boolean
  note: string
  children: ReactNode
}) {
  const { project = '', _splat } = useParams({ strict: false })
  const params = { project, version: to }
  const link = _splat ? (
    <Link to="/p/$project/v/$version/prompts/$" params={{ ...params, _splat }} search={true} />
  ) : (
    <Link to="/p/$project/v/$version/prompts" params={params} />
  )
  return (
    <MenuLink
      link={link}
      note={
        <>
          {note} {isOpen && <Icon name="check" size={14} />}
        </>
      }
    >
      {children}
    </MenuLink>
  )
}

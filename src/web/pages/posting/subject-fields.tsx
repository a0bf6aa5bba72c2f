// What every form of a posting carries: the version that was shown, and the group that the visitor goes through.

export const SubjectFields = ({ version, group }: { version: string | undefined; group: string | undefined }) => (
  <>
    <input type="hidden" name="version" value={version ?? ''} />
    {group !== undefined && <input type="hidden" name="group" value={group} />}
  </>
);

-- AlterTable
ALTER TABLE "annotation" ADD COLUMN     "by" TEXT,
ADD COLUMN     "source" TEXT NOT NULL DEFAULT 'person';

-- AlterTable
ALTER TABLE "conversation" ADD COLUMN     "note" TEXT,
ADD COLUMN     "note_at" TIMESTAMPTZ(3),
ADD COLUMN     "note_by" INTEGER;

-- AlterTable
ALTER TABLE "evaluation" ADD COLUMN     "built_in" TEXT;

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "overrides" JSON;

-- CreateTable
CREATE TABLE "conversation_tag" (
    "project_id" INTEGER NOT NULL,
    "tag" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "conversation_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,

    CONSTRAINT "conversation_tag_pkey" PRIMARY KEY ("project_id","tag","at","conversation_uuid")
);

-- CreateIndex
CREATE INDEX "conversation_tag_conversation_uuid_idx" ON "conversation_tag"("conversation_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "evaluation_project_id_built_in_key" ON "evaluation"("project_id", "built_in");

-- AddForeignKey
ALTER TABLE "conversation_tag" ADD CONSTRAINT "conversation_tag_conversation_uuid_fkey" FOREIGN KEY ("conversation_uuid") REFERENCES "conversation"("uuid") ON DELETE CASCADE ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "example" (
    "id" SERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "project_id" INTEGER NOT NULL,
    "document_uuid" UUID NOT NULL,
    "author_id" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "parameters" JSON NOT NULL,
    "messages" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "example_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "example_uuid_key" ON "example"("uuid");

-- CreateIndex
CREATE INDEX "example_author_id_idx" ON "example"("author_id");

-- CreateIndex
CREATE UNIQUE INDEX "example_project_id_document_uuid_name_key" ON "example"("project_id", "document_uuid", "name");

-- AddForeignKey
ALTER TABLE "example" ADD CONSTRAINT "example_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "example" ADD CONSTRAINT "example_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "author"("id") ON DELETE CASCADE ON UPDATE CASCADE;

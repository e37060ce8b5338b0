"""What the faces on HTTP share: who may knock (`gate`), and where one listens (`listen`)."""

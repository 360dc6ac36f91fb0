"""Agreement on judgments of whole pairs."""

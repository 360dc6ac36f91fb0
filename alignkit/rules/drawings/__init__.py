"""Drawings of trees and of fragments of rules."""
